#include "octavo/Transforms/Legalize/RaggedDots.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Reduction.h"
#include "octavo/Transforms/Shapes/RuntimeShape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace octavo::transforms {

/// The dimension numbers of a composite; null if its attributes are not those of a ragged dot.
static chlo::RaggedDotDimensionNumbersAttr dimensionNumbers(stablehlo::CompositeOp op) {
  constexpr std::size_t kLists = 6;
  const auto attributes = op.getCompositeAttributes();
  const auto given = attributes ? llvm::dyn_cast_if_present<mlir::ArrayAttr>(
                                      attributes.get("ragged_dot_dimension_numbers"))
                                : mlir::ArrayAttr();
  if (op.getName() != chlo::RaggedDotOp::getOperationName() || !given || given.size() != kLists ||
      op->getNumOperands() != 3 || op->getNumResults() != 1)
    return {};
  llvm::SmallVector<std::int64_t> axes[kLists];
  for (const auto& [attribute, list] : llvm::zip_equal(given, axes)) {
    const auto numbers = llvm::dyn_cast<mlir::DenseIntElementsAttr>(attribute);
    if (!numbers || !numbers.getElementType().isSignlessInteger(64))
      return {};
    llvm::append_range(list, numbers.getValues<std::int64_t>());
  }
  return chlo::RaggedDotDimensionNumbersAttr::get(op.getContext(), axes[0], axes[1], axes[2],
                                                  axes[3], axes[4], axes[5]);
}

void openRaggedDots(mlir::ModuleOp module) {
  llvm::SmallVector<stablehlo::CompositeOp> found;
  module.walk([&](stablehlo::CompositeOp op) { found.push_back(op); });
  for (stablehlo::CompositeOp op : found) {
    const auto numbers = dimensionNumbers(op);
    if (!numbers)
      continue;
    mlir::OpBuilder builder(op);
    auto ragged =
        chlo::RaggedDotOp::create(builder, op.getLoc(), op->getResultTypes()[0], op->getOperand(0),
                                  op->getOperand(1), op->getOperand(2), numbers, mlir::ArrayAttr());
    const mlir::ScopedDiagnosticHandler unheard(op.getContext(),
                                                [](mlir::Diagnostic&) { return mlir::success(); });
    if (failed(ragged.verify())) {
      ragged.erase();
      continue;
    }
    auto decomposition = module.lookupSymbol<mlir::func::FuncOp>(op.getDecomposition());
    op->replaceAllUsesWith(ragged);
    op.erase();
    if (decomposition && decomposition.isPrivate() &&
        mlir::SymbolTable::symbolKnownUseEmpty(decomposition, module))
      decomposition.erase();
  }
}

static bool isWritten(chlo::RaggedDotOp op) {
  const auto numbers = op.getRaggedDotDimensionNumbers();
  return op.mode() == chlo::RaggedDotOp::Mode::Free &&
         llvm::isa<mlir::FloatType>(op.getType().getElementType()) &&
         numbers.getLhsContractingDimensions().size() + 1 ==
             static_cast<std::size_t>(op.getLhs().getType().getRank()) &&
         numbers.getRhsGroupDimensions().front() == 0 &&
         op.getGroupSizes().getType().getRank() == 1;
}

DotOfGroups::DotOfGroups(chlo::RaggedDotOp op) : ragged(op) {
  mlir::OpBuilder builder(op);
  const auto numbers = op.getRaggedDotDimensionNumbers();
  const auto dimensions = stablehlo::DotDimensionNumbersAttr::get(
      op.getContext(), {}, {}, numbers.getLhsContractingDimensions(),
      numbers.getRhsContractingDimensions());
  llvm::SmallVector<std::int64_t> shape(op.getType().getShape());
  shape.insert(shape.begin() + 1, op.getRhs().getType().getDimSize(0));
  product = stablehlo::DotGeneralOp::create(builder, op.getLoc(), op.getType().clone(shape),
                                            op.getLhs(), op.getRhs(), dimensions, mlir::ArrayAttr(),
                                            stablehlo::DotAlgorithmAttr());
  rows = ir::RowsOfGroupsOp::create(builder, op.getLoc(), op.getType(), product.getResult(),
                                    op.getGroupSizes());
  op.getResult().replaceAllUsesWith(rows.getResult());
}

/// The sum of a vector of integers.
static mlir::Value sumOf(mlir::ImplicitLocOpBuilder& builder, mlir::Value numbers) {
  const auto type = llvm::cast<mlir::RankedTensorType>(numbers.getType());
  const auto scalar = mlir::RankedTensorType::get({}, type.getElementType());
  const mlir::Value zero = stablehlo::ConstantOp::create(
      builder, llvm::cast<mlir::DenseElementsAttr>(builder.getZeroAttr(scalar)));
  auto sum =
      stablehlo::ReduceOp::create(builder, mlir::TypeRange(scalar), mlir::ValueRange(numbers),
                                  mlir::ValueRange(zero), builder.getDenseI64ArrayAttr({0}));
  mlir::Block& body = sum.getBody().emplaceBlock();
  body.addArguments({scalar, scalar}, {builder.getLoc(), builder.getLoc()});
  auto inner = mlir::ImplicitLocOpBuilder::atBlockEnd(builder.getLoc(), &body);
  stablehlo::ReturnOp::create(
      inner, stablehlo::AddOp::create(inner, scalar, body.getArgument(0), body.getArgument(1))
                 .getResult());
  return sum->getResult(0);
}

void DotOfGroups::leaveOutRowsOfNone() {
  const mlir::Value lhs = ragged.getLhs();
  const mlir::RankedTensorType type = ragged.getLhs().getType(),
                               sizesType = ragged.getGroupSizes().getType();
  if (!sizesType.hasStaticShape())
    return;
  const std::int64_t axis = ragged.getRaggedDotDimensionNumbers().getLhsRaggedDimensions().front();
  mlir::ImplicitLocOpBuilder builder(ragged.getLoc(), product);
  const auto constant = [&](mlir::RankedTensorType of, std::int64_t value) -> mlir::Value {
    return stablehlo::ConstantOp::create(
        builder, mlir::DenseElementsAttr::get(
                     of, mlir::APInt(of.getElementTypeBitWidth(), static_cast<std::uint64_t>(value),
                                     /*isSigned=*/true, /*implicitTrunc=*/true)));
  };
  const bool isOpen = !type.hasStaticShape();
  const mlir::Value shape = isOpen ? shapeOf(builder, builder.getLoc(), lhs) : mlir::Value();
  const auto spread = [&](mlir::Value scalar) -> mlir::Value {
    const auto to = mlir::RankedTensorType::get(
        type.getShape(), llvm::cast<mlir::RankedTensorType>(scalar.getType()).getElementType());
    return isOpen ? broadcast(builder, builder.getLoc(), scalar, shape, to, {})
                  : stablehlo::BroadcastInDimOp::create(builder, to, scalar,
                                                        builder.getDenseI64ArrayAttr({}))
                        .getResult();
  };
  // The sum of sizes fits in 64 bits if each is at most the largest extent.
  constexpr std::int64_t kMostRows = std::numeric_limits<std::int32_t>::max();
  mlir::Value sizes = ragged.getGroupSizes();
  const auto wide = mlir::RankedTensorType::get(sizesType.getShape(), builder.getI64Type());
  if (sizesType.getElementType().isUnsignedInteger(64))
    sizes = stablehlo::MinOp::create(builder, sizes, constant(sizesType, kMostRows));
  if (sizesType != wide)
    sizes = stablehlo::ConvertOp::create(builder, wide, sizes);
  sizes = stablehlo::MinOp::create(builder, sizes, constant(wide, kMostRows));
  // i32, the width of most elements that are selected.
  const auto scalar = [&](mlir::Type element) { return mlir::RankedTensorType::get({}, element); };
  const mlir::Value end = stablehlo::ConvertOp::create(
      builder, scalar(builder.getI32Type()),
      stablehlo::MinOp::create(builder, sumOf(builder, sizes),
                               constant(scalar(builder.getI64Type()), kMostRows)));
  const auto numbers = mlir::RankedTensorType::get(type.getShape(), builder.getI32Type());
  const mlir::IntegerAttr along = builder.getI64IntegerAttr(axis);
  const mlir::Value row = isOpen ? stablehlo::DynamicIotaOp::create(builder, numbers, shape, along)
                                       .getResult()
                                 : stablehlo::IotaOp::create(builder, numbers, along).getResult(),
                    isOfGroup = stablehlo::CompareOp::create(
                        builder, mlir::RankedTensorType::get(type.getShape(), builder.getI1Type()),
                        row, spread(end),
                        stablehlo::ComparisonDirectionAttr::get(builder.getContext(),
                                                                stablehlo::ComparisonDirection::LT),
                        stablehlo::ComparisonTypeAttr::get(builder.getContext(),
                                                           stablehlo::ComparisonType::SIGNED)),
                    zero = stablehlo::ConstantOp::create(
                        builder, llvm::cast<mlir::DenseElementsAttr>(builder.getZeroAttr(
                                     mlir::RankedTensorType::get({}, type.getElementType()))));
  product.getLhsMutable().assign(
      stablehlo::SelectOp::create(builder, type, isOfGroup, lhs, spread(zero)));
}

void DotOfGroups::putBack() {
  rows.getResult().replaceAllUsesWith(ragged.getResult());
  rows.erase();
  product.erase();
}

std::vector<DotOfGroups> writeRaggedDots(mlir::ModuleOp module) {
  openRaggedDots(module);
  llvm::SmallVector<chlo::RaggedDotOp> found;
  module.walk([&](chlo::RaggedDotOp op) {
    if (isWritten(op))
      found.push_back(op);
  });
  return {found.begin(), found.end()};
}

} // namespace octavo::transforms
