// The pass octavo-emit: writes the octavo dialect as plain StableHLO.
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/ArgumentExponents.h"
#include "octavo/Dialect/Octavo/RowsOfGroups.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Transforms/Legalize/CHLO/RowsOfGroups.h"
#include "octavo/Transforms/Legalize/InlineFusedDots.h"
#include "octavo/Transforms/Legalize/RoundingArithmetic.h"
#include "octavo/Transforms/Legalize/ScaleArithmetic.h"
#include "octavo/Transforms/Passes.h"
#include "octavo/Transforms/Quantize/ColumnExponents.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/Recover/ScaledCallForms.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_EMITSTABLEHLO
#include "octavo/Transforms/Passes.h.inc"

namespace {

namespace func = mlir::func;

bool isScaled(mlir::Type type) { return llvm::isa<ir::ScaledType>(type); }

/// The types of a scaled tensor's parts; an error if an extent is unknown.
mlir::FailureOr<llvm::SmallVector<mlir::Type>> partTypes(mlir::Operation* at, ir::ScaledType type) {
  if (llvm::any_of(type.getShape(), mlir::ShapedType::isDynamic))
    return emitOpenExtents(at, type);
  return type.getPartTypes();
}

/// The form in which scaled tensors are written.
enum class Form : std::uint8_t { Qdq, ScaledDot, CustomCalls };

class FunctionEmitter {
public:
  FunctionEmitter(func::FuncOp function, Form form, ScaledDotComposites& composites)
      : function(function), form(form), composites(composites) {}

  mlir::LogicalResult run() {
    if (function.isExternal()) {
      if (llvm::any_of(function.getArgumentTypes(), isScaled) ||
          llvm::any_of(function.getResultTypes(), isScaled))
        return function.emitError("octavo-emit needs the body of a function of scaled tensors");
      return mlir::success();
    }
    if (mlir::failed(emitArguments()))
      return mlir::failure();
    llvm::SmallVector<mlir::Operation*> ops;
    function.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) { ops.push_back(op); });
    for (mlir::Operation* op : ops)
      if (op != function.getOperation() && mlir::failed(emit(op)))
        return mlir::failure();
    for (mlir::Operation* op : llvm::reverse(emitted))
      op->erase();
    for (unsigned i = function.getNumArguments(); i-- > 0;)
      if (isScaled(function.getArgument(i).getType()))
        if (mlir::failed(function.eraseArgument(i)))
          return mlir::failure();
    return emitResultTypes();
  }

private:
  /// Replaces scaled arguments: by a wide tensor if octavo.quantize says how to quantize it, else
  /// by the parts.
  mlir::LogicalResult emitArguments() {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      const mlir::BlockArgument argument = function.getArgument(i);
      const auto type = llvm::dyn_cast<ir::ScaledType>(argument.getType());
      if (!type)
        continue;
      const mlir::Location location = argument.getLoc();
      mlir::FailureOr<llvm::SmallVector<mlir::Type>> types = partTypes(function, type);
      if (mlir::failed(types))
        return mlir::failure();
      const auto quantization =
          function.getArgAttrOfType<ir::QuantizationAttr>(i, ir::OctavoDialect::kQuantize);
      const mlir::DictionaryAttr attributes = function.getArgAttrDict(i);
      mlir::NamedAttrList kept(attributes);
      kept.erase(ir::OctavoDialect::kQuantize);
      const ir::ArgumentExponents moved =
          ir::argumentExponents(function.getArgAttr(i, ir::kExponents));
      kept.erase(ir::kExponents);
      mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&function.getBody().front());
      if (quantization) {
        const auto wide = mlir::RankedTensorType::get(type.getShape(), builder.getF32Type());
        if (mlir::failed(function.insertArgument(
                i + 1, wide, kept.getDictionary(builder.getContext()), location)))
          return mlir::failure();
        mlir::Value values = function.getArgument(i + 1);
        if (!moved.exponents.empty())
          values = timesPowersOfTwo(builder, location, values, moved.axis, moved.exponents);
        parts[argument] = quantized(builder, location, values, nullptr, type, quantization);
        ++i;
        continue;
      }
      ScaledParts& taken = parts[argument];
      mlir::Value* const slots[] = {&taken.elements, &taken.scales, &taken.outer};
      constexpr llvm::StringLiteral kSuffixes[] = {"", ".scales", ".outer"};
      const auto name =
          llvm::dyn_cast_or_null<mlir::StringAttr>(kept.get(ir::OctavoDialect::kName));
      for (const auto [j, part] : llvm::enumerate(*types)) {
        mlir::NamedAttrList own(kept);
        if (name)
          own.set(ir::OctavoDialect::kName, builder.getStringAttr(name.getValue() + kSuffixes[j]));
        if (mlir::failed(function.insertArgument(i + 1 + static_cast<unsigned>(j), part,
                                                 own.getDictionary(builder.getContext()),
                                                 location)))
          return mlir::failure();
        *slots[j] = function.getArgument(i + 1 + static_cast<unsigned>(j));
      }
      i += static_cast<unsigned>(types->size());
    }
    return mlir::success();
  }

  mlir::LogicalResult emitResultTypes() {
    llvm::SmallVector<mlir::Type> results;
    llvm::SmallVector<mlir::DictionaryAttr> attributes;
    for (const auto [i, type] : llvm::enumerate(function.getResultTypes())) {
      llvm::SmallVector<mlir::Type> own = {type};
      if (const auto scaled = llvm::dyn_cast<ir::ScaledType>(type)) {
        mlir::FailureOr<llvm::SmallVector<mlir::Type>> types = partTypes(function, scaled);
        if (mlir::failed(types))
          return mlir::failure();
        own = *types;
      }
      const mlir::DictionaryAttr attribute = function.getResultAttrDict(static_cast<unsigned>(i));
      for (const mlir::Type part : own) {
        results.push_back(part);
        attributes.push_back(attribute ? attribute
                                       : mlir::DictionaryAttr::get(function.getContext()));
      }
    }
    function.setFunctionType(
        mlir::FunctionType::get(function.getContext(), function.getArgumentTypes(), results));
    function.setAllResultAttrs(attributes);
    return mlir::success();
  }

  mlir::LogicalResult emit(mlir::Operation* op) {
    for (const mlir::Type type : op->getResultTypes())
      if (const auto scaled = llvm::dyn_cast<ir::ScaledType>(type))
        if (mlir::failed(partTypes(op, scaled)))
          return mlir::failure();
    for (const mlir::Value operand : op->getOperands())
      if (isScaled(operand.getType()) && !parts.contains(operand))
        return op->emitError("octavo-emit does not take scaled tensors as arguments of blocks");
    mlir::OpBuilder builder(op);
    const mlir::Location location = op->getLoc();
    if (auto quantize = llvm::dyn_cast<ir::QuantizeOp>(op)) {
      parts[quantize.getResult()] =
          quantized(builder, location, quantize.getOperand(), quantize.getRandomBits(),
                    llvm::cast<ir::ScaledType>(quantize.getType()), quantize.getQuantization());
    } else if (auto pack = llvm::dyn_cast<ir::PackOp>(op)) {
      parts[pack.getResult()] = {pack.getElements(), pack.getScales(), pack.getOuter()};
    } else if (auto unpack = llvm::dyn_cast<ir::UnpackOp>(op)) {
      const ScaledParts& taken = parts.at(unpack.getOperand());
      unpack.getElements().replaceAllUsesWith(taken.elements);
      unpack.getScales().replaceAllUsesWith(taken.scales);
      if (unpack.getOuter())
        unpack.getOuter().replaceAllUsesWith(taken.outer);
    } else if (auto dequantize = llvm::dyn_cast<ir::DequantizeOp>(op)) {
      dequantize.getResult().replaceAllUsesWith(wide(builder, location, dequantize.getOperand()));
    } else if (auto dot = llvm::dyn_cast<ir::DotGeneralOp>(op)) {
      dot.getResult().replaceAllUsesWith(product(builder, dot));
    } else if (auto rows = llvm::dyn_cast<ir::RowsOfGroupsOp>(op)) {
      if (!rows.getAll().getType().hasStaticShape())
        return emitOpenExtents(op, rows.getAll().getType());
      rows.replaceAllUsesWith(emitRowsOfGroups(builder, rows));
    } else if (auto convert = llvm::dyn_cast<ir::ConvertOp>(op)) {
      mlir::FailureOr<mlir::Value> result = emitConvert(builder, convert);
      if (mlir::failed(result))
        return mlir::failure();
      convert.getResult().replaceAllUsesWith(*result);
    } else if (llvm::isa<func::ReturnOp>(op)) {
      op->setOperands(inParts(op->getOperands()));
      return mlir::success();
    } else {
      if (llvm::none_of(op->getOperandTypes(), isScaled) &&
          llvm::none_of(op->getResultTypes(), isScaled))
        return mlir::success();
      auto call = llvm::dyn_cast<func::CallOp>(op);
      if (!call)
        return op->emitError("octavo-emit does not take scaled tensors through this operation");
      emitCall(builder, call);
    }
    emitted.push_back(op);
    return mlir::success();
  }

  /// `values` with scaled tensors replaced by their parts.
  llvm::SmallVector<mlir::Value> inParts(mlir::ValueRange values) {
    llvm::SmallVector<mlir::Value> result;
    for (const mlir::Value value : values) {
      if (!isScaled(value.getType())) {
        result.push_back(value);
        continue;
      }
      const ScaledParts& taken = parts.at(value);
      result.append({taken.elements, taken.scales});
      if (taken.outer)
        result.push_back(taken.outer);
    }
    return result;
  }

  void emitCall(mlir::OpBuilder& builder, func::CallOp call) {
    llvm::SmallVector<mlir::Type> types;
    for (const mlir::Type type : call.getResultTypes())
      if (const auto scaled = llvm::dyn_cast<ir::ScaledType>(type))
        types.append(*partTypes(call, scaled));
      else
        types.push_back(type);
    auto made = func::CallOp::create(builder, call.getLoc(), call.getCallee(), types,
                                     inParts(call.getOperands()));
    made->setDiscardableAttrs(call->getDiscardableAttrDictionary());
    auto next = made.result_begin();
    for (mlir::Value result : call.getResults()) {
      const auto scaled = llvm::dyn_cast<ir::ScaledType>(result.getType());
      if (!scaled) {
        result.replaceAllUsesWith(*next++);
        continue;
      }
      ScaledParts& taken = parts[result];
      taken.elements = *next++;
      taken.scales = *next++;
      if (scaled.getHasOuterScale())
        taken.outer = *next++;
    }
  }

  /// Quantizes by XLA's call if that gives the same values, else by arithmetic, with a remark that
  /// says why.
  ScaledParts quantized(mlir::OpBuilder& builder, mlir::Location location, mlir::Value operand,
                        mlir::Value random, ir::ScaledType type,
                        ir::QuantizationAttr quantization) {
    if (form == Form::CustomCalls) {
      const auto written = writeQuantizeCall(builder, location, operand, type, quantization);
      if (const auto* call = std::get_if<ScaledParts>(&written))
        return *call;
      mlir::emitRemark(location) << "this quantization is written as arithmetic: it "
                                 << std::get<std::string>(written);
    }
    return emitQuantize(builder, location, operand, random, type, quantization);
  }

  /// A side of a dot, or the operand of a dequantize, in f32.
  mlir::Value wide(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value) {
    const auto type = llvm::dyn_cast<ir::ScaledType>(value.getType());
    if (!type)
      return emitWiden(builder, location, value);
    const mlir::Value call = form == Form::CustomCalls
                                 ? writeDequantizeCall(builder, location, parts.at(value), type)
                                 : mlir::Value();
    if (!call && !isInBlocks(type.getShape(), type.getBlock()))
      mlir::emitRemark(location) << "this tensor has a scale for each element: spelled out it is a "
                                    "product of two tensors, which octavo-recover-scaled leaves";
    return call ? call : emitDequantize(builder, location, parts.at(value), type);
  }

  /// Writes a product in the requested form, or by explicit dequantization with a remark that says
  /// why.
  mlir::Value product(mlir::OpBuilder& builder, ir::DotGeneralOp dot) {
    const mlir::Location location = dot.getLoc();
    const auto result = llvm::cast<mlir::RankedTensorType>(dot.getType());
    if (form != Form::Qdq) {
      ScaledProduct product{{}, dot.getDotDimensionNumbers(), result};
      for (auto [side, value] :
           llvm::zip_equal(product.sides, std::array{dot.getLhs(), dot.getRhs()})) {
        side.scaled = llvm::dyn_cast<ir::ScaledType>(value.getType());
        if (side.scaled)
          side.parts = parts.at(value);
        else
          side.plain = value;
      }
      const FormOfProduct written = form == Form::ScaledDot
                                        ? composites.write(builder, location, product)
                                        : writeBlockScaledDot(builder, location, product);
      if (const auto* value = std::get_if<mlir::Value>(&written))
        return *value;
      dot.emitRemark() << "this product is written as explicit dequantization: it "
                       << std::get<std::string>(written);
    }
    return emitDot(builder, location, wide(builder, location, dot.getLhs()),
                   wide(builder, location, dot.getRhs()), dot.getDotDimensionNumbers(), result);
  }

  func::FuncOp function;
  const Form form;
  ScaledDotComposites& composites;
  llvm::DenseMap<mlir::Value, ScaledParts> parts;
  llvm::SmallVector<mlir::Operation*> emitted;
};

/// Fails if a call passes a scaled tensor to an argument that becomes wide.
mlir::LogicalResult checkCalls(mlir::ModuleOp module) {
  mlir::SymbolTableCollection symbols;
  const mlir::WalkResult result = module.walk([&](func::CallOp call) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    for (unsigned i = 0; callee && i < callee.getNumArguments(); ++i)
      if (callee.getArgAttr(i, ir::OctavoDialect::kQuantize)) {
        call.emitError()
            << "octavo-emit makes argument " << i << " of @" << callee.getName()
            << ", which has octavo.quantize, a wide tensor; found a call that gives it "
            << callee.getArgumentTypes()[i] << " (--inline opens calls)";
        return mlir::WalkResult::interrupt();
      }
    return mlir::WalkResult::advance();
  });
  return mlir::failure(result.wasInterrupted());
}

struct EmitStableHLO : impl::EmitStableHLOBase<EmitStableHLO> {
  using EmitStableHLOBase::EmitStableHLOBase;

  void runOnOperation() override {
    if (qdq + xlaScaledDot + xlaCustomCalls > 1)
      return fail("writes one form: qdq, xla-scaled-dot or xla-custom-calls");
    const Form form = xlaScaledDot     ? Form::ScaledDot
                      : xlaCustomCalls ? Form::CustomCalls
                                       : Form::Qdq;
    if (mlir::failed(checkCalls(getOperation())))
      return signalPassFailure();
    inlineFusedDots(getOperation());
    ScaledDotComposites composites(getOperation());
    const llvm::SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (mlir::failed(FunctionEmitter(function, form, composites).run()))
        return signalPassFailure();
  }
};

} // namespace

} // namespace octavo::transforms
