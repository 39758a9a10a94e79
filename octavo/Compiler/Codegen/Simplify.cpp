#include "octavo/Compiler/Codegen/Simplify.h"

#include "octavo/Compiler/Codegen/InlineCalls.h"
#include "octavo/Compiler/Plan/BatchIndexedDots.h"
#include "octavo/Compiler/Plan/CutViews.h"
#include "octavo/Compiler/Plan/FusionPlan.h"
#include "octavo/Compiler/Plan/ScaledProducts.h"
#include "octavo/Compiler/Plan/ScaledSides.h"
#include "octavo/Compiler/Plan/SwapDotOperands.h"
#include "octavo/Dialect/BatchExtent.h"
#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Transforms/Legalize/CHLO/LegalizeCHLO.h"
#include "octavo/Transforms/Legalize/LegalizeBatchNorm.h"
#include "octavo/Transforms/Legalize/RaggedDots.h"
#include "octavo/Transforms/Legalize/ScaleArithmetic.h"
#include "octavo/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace octavo::compiler {

namespace {

bool isFloatToF32(mlir::Type type) {
  auto element = llvm::dyn_cast<mlir::FloatType>(mlir::getElementTypeOrSelf(type));
  return element && element.getWidth() <= 32;
}

mlir::Value convertedTo(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                        mlir::Type element) {
  auto given = mlir::cast<mlir::RankedTensorType>(value.getType());
  return given.getElementType() == element
             ? value
             : stablehlo::ConvertOp::create(builder, location, given.clone(element), value);
}

/// Changes the result type of an operation to f32, and rounds once to the former type.
void roundAfter(mlir::OpBuilder& builder, mlir::Operation* op) {
  mlir::Value result = op->getResult(0);
  auto type = mlir::cast<mlir::RankedTensorType>(result.getType());
  result.setType(type.clone(builder.getF32Type()));
  builder.setInsertionPointAfter(op);
  auto rounded = stablehlo::ConvertOp::create(builder, op->getLoc(), type, result);
  result.replaceAllUsesExcept(rounded.getResult(), rounded);
}

/// Widens dots, ragged dots and convolutions of floats narrower than f32. Operands are converted
/// exactly and the result is rounded once, as rules I12 and I21 define them. Operands become bf16
/// if that holds both types, else f32.
void widenProducts(mlir::ModuleOp module) {
  module->walk([&](mlir::Operation* op) {
    auto dot = llvm::dyn_cast<stablehlo::DotGeneralOp>(op);
    if (dot ? dot.getAlgorithm().has_value()
            : !llvm::isa<stablehlo::ConvolutionOp, chlo::RaggedDotOp>(op))
      return;
    mlir::OpBuilder builder(op);
    const auto isWide = [](mlir::Type type) { return mlir::getElementTypeOrSelf(type).isF32(); };
    const mlir::Type type = op->getResult(0).getType();
    const auto sides = op->getOpOperands().take_front(2);
    llvm::SmallVector<mlir::Type> types = {type};
    for (const mlir::OpOperand& side : sides)
      types.push_back(side.get().getType());
    if (!llvm::all_of(types, isFloatToF32) || llvm::all_of(types, isWide))
      return;
    const auto fitsBf16 = [](mlir::Type each) {
      const format::ElementFormat* format = elementFormat(mlir::getElementTypeOrSelf(each));
      return format != nullptr && format->hasZero() &&
             (format->isNarrow() || format->name == "bf16");
    };
    const mlir::Type multiplied = llvm::all_of(llvm::drop_begin(types), fitsBf16)
                                      ? mlir::Type(builder.getBF16Type())
                                      : mlir::Type(builder.getF32Type());
    for (mlir::OpOperand& side : sides)
      side.set(convertedTo(builder, op->getLoc(), side.get(), multiplied));
    if (!isWide(type))
      roundAfter(builder, op);
  });
}

/// Widens quantizations and products of scaled tensors to f32, which the kernels support. Operands
/// are converted exactly and the result is rounded once (rule I13).
void widenScaled(mlir::ModuleOp module) {
  module->walk([](mlir::Operation* op) {
    mlir::OpBuilder builder(op);
    if (auto quantize = llvm::dyn_cast<ir::QuantizeOp>(op)) {
      const mlir::Type input = mlir::getElementTypeOrSelf(quantize.getOperand().getType());
      if (isFloatToF32(input) && !input.isF32())
        compiler::widenInput(quantize);
    }
    if (auto dot = llvm::dyn_cast<ir::DotGeneralOp>(op)) {
      for (mlir::OpOperand& side : op->getOpOperands())
        if (isFloatToF32(side.get().getType()))
          side.set(convertedTo(builder, op->getLoc(), side.get(), builder.getF32Type()));
      if (const mlir::Type type = dot.getResult().getType();
          isFloatToF32(type) && !mlir::getElementTypeOrSelf(type).isF32())
        roundAfter(builder, op);
    }
    // For a grouped product, the rounding moves behind rows_of_groups. The walk visits that
    // operation after its operand, which was rounded above.
    if (auto rows = llvm::dyn_cast<ir::RowsOfGroupsOp>(op))
      if (auto rounded = rows.getAll().getDefiningOp<stablehlo::ConvertOp>();
          rounded && rounded.getOperand().getDefiningOp<ir::DotGeneralOp>()) {
        rows.getAllMutable().assign(rounded.getOperand());
        roundAfter(builder, op);
        if (rounded->use_empty())
          rounded.erase();
      }
  });
}

/// The pack operation of a scaled tensor with parts that each run computes; else null.
ir::PackOp packedAnew(mlir::Value scaled) {
  auto pack = scaled.getDefiningOp<ir::PackOp>();
  const bool isMadeAnew =
      pack && llvm::any_of(pack->getOperands(), [](mlir::Value part) {
        mlir::Operation* maker = compiler::inMemory(part).getDefiningOp();
        return maker != nullptr && !maker->hasTrait<mlir::OpTrait::ConstantLike>();
      });
  return isMadeAnew ? pack : ir::PackOp();
}

mlir::Value dequantized(mlir::OpBuilder& builder, mlir::Location location, ir::PackOp pack) {
  return transforms::emitDequantize(builder, location,
                                    {pack.getElements(), pack.getScales(), pack.getOuter()},
                                    mlir::cast<ir::ScaledType>(pack.getResult().getType()));
}

/// Computes in kernels the values of scaled tensors whose parts each run computes, such as a KV
/// cache (rule I13). These are tensors that are dequantized, and tensors that f32 is multiplied by,
/// if the product is batched and would pack them in each run, or has no form. Selected slices of
/// recurring weights stay: they are packed once.
void dequantizeParts(mlir::ModuleOp module) {
  module->walk([](ir::DequantizeOp op) {
    if (ir::PackOp pack = packedAnew(op.getOperand())) {
      mlir::OpBuilder builder(op);
      op.replaceAllUsesWith(dequantized(builder, op.getLoc(), pack));
      op.erase();
    }
  });
  module->walk([](ir::DotGeneralOp dot) {
    const auto isF32 = [](mlir::Value side) {
      return mlir::getElementTypeOrSelf(side.getType()).isF32();
    };
    const bool isLeft = isF32(dot.getRhs());
    if (isLeft == isF32(dot.getLhs()))
      return;
    ir::PackOp pack = packedAnew(isLeft ? dot.getLhs() : dot.getRhs());
    if (!pack)
      return;
    const std::size_t batchAxes = dot.getDotDimensionNumbers().getLhsBatchingDimensions().size();
    const bool isBatch = batchAxes != 0;
    if (!isLeft && compiler::movedSide(pack, batchAxes))
      compiler::contractLeftLast(dot);
    const auto product = compiler::scaledProduct(dot);
    if (product && (!isBatch || (product->moved && !product->moved->choices.empty())))
      return;
    mlir::OpBuilder builder(dot);
    const mlir::Value values = dequantized(builder, dot.getLoc(), pack);
    dot.replaceAllUsesWith(
        transforms::emitDot(builder, dot.getLoc(), isLeft ? values : dot.getLhs(),
                            isLeft ? dot.getRhs() : values, dot.getDotDimensionNumbers(),
                            mlir::cast<mlir::RankedTensorType>(dot.getResult().getType())));
    dot.erase();
  });
}

/// Replaces operations of CHLO, and conversions, by others that have code, if the result keeps its
/// bits. Formulas for the special functions are not used: their error exceeds the bound of C2.
void legalizeExactly(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation*> exact;
  module->walk([&](mlir::Operation* op) {
    if (llvm::isa<chlo::NextAfterOp, chlo::TopKOp, ir::ConvertOp>(op))
      exact.push_back(op);
  });
  const Diagnostics unheard(*module.getContext());
  for (mlir::Operation* op : exact) {
    auto convert = llvm::dyn_cast<ir::ConvertOp>(op);
    if (!convert) {
      static_cast<void>(transforms::legalizeCHLO(op));
      continue;
    }
    mlir::OpBuilder builder(op);
    const mlir::FailureOr<mlir::Value> value = transforms::emitConvert(builder, convert);
    if (mlir::failed(value))
      continue; // the interpreter evaluates it
    convert.replaceAllUsesWith(*value);
    op->erase();
  }
}

/// Removes optimization barriers, which have kept passes apart until here, except those of extents.
void handOn(mlir::ModuleOp module) {
  module->walk([](stablehlo::OptimizationBarrierOp barrier) {
    if (isItemNumber(barrier))
      return;
    barrier->replaceAllUsesWith(barrier->getOperands());
    barrier->erase();
  });
}

} // namespace

llvm::Error simplify(mlir::ModuleOp module) {
  mlir::PassManager legalize(module.getContext()), simplify(module.getContext()),
      hoist(module.getContext());
  legalize.addPass(transforms::createLegalizeComposites());
  legalize.addPass(transforms::createLegalizeArith());
  legalize.addPass(transforms::createInlineFusedDots());
  // Scalars that exporters convert and broadcast would become kernels.
  simplify.addPass(transforms::createFoldConstants({.maxElements = 1}));
  simplify.addPass(mlir::createCanonicalizerPass());
  simplify.addPass(mlir::createCSEPass());
  hoist.addPass(transforms::createHoistDots());
  const Diagnostics diagnostics(*module.getContext());
  transforms::openRaggedDots(module);
  if (mlir::failed(legalize.run(module)))
    return llvm::createStringError(diagnostics.found());
  legalizeExactly(module);
  transforms::legalizeBatchNorm(module);
  inlineCalls(module);
  if (mlir::failed(simplify.run(module)))
    return llvm::createStringError(diagnostics.found());
  handOn(module);
  compiler::cutViews(module);
  if (mlir::failed(hoist.run(module)))
    return llvm::createStringError(diagnostics.found());
  widenScaled(module);
  widenProducts(module);
  compiler::batchChoices(module);
  compiler::turnDots(module);
  dequantizeParts(module);
  return llvm::Error::success();
}

} // namespace octavo::compiler
