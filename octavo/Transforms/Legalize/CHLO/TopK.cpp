// chlo.top_k: sorts each row together with the indices of its elements, and slices the first k of
// both.
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Sort.h"
#include "octavo/Transforms/Legalize/CHLO/Operations.h"
#include "octavo/Transforms/Legalize/CHLO/Term.h"
#include "octavo/Transforms/Shapes/RuntimeShape.h"

namespace octavo::transforms {

using mlir::RankedTensorType;

namespace {

/// Writes the comparator: whether the first element precedes the second; indices are not compared.
void addComparator(mlir::OpBuilder& builder, mlir::Location at, mlir::Region& region,
                   mlir::Type element) {
  using Type = stablehlo::ComparisonType;
  const mlir::OpBuilder::InsertionGuard guard(builder);
  const auto scalar = RankedTensorType::get({}, element);
  const auto index = RankedTensorType::get({}, builder.getI32Type());
  mlir::Block* block =
      builder.createBlock(&region, {}, {scalar, scalar, index, index}, {at, at, at, at});
  const Type type = stablehlo::isFloat(element)                           ? Type::TOTALORDER
                    : element.isUnsignedInteger() || element.isInteger(1) ? Type::UNSIGNED
                                                                          : Type::SIGNED;
  const mlir::Value isBefore =
      stablehlo::CompareOp::create(builder, at, RankedTensorType::get({}, builder.getI1Type()),
                                   block->getArgument(0), block->getArgument(1),
                                   stablehlo::ComparisonDirectionAttr::get(
                                       builder.getContext(), stablehlo::ComparisonDirection::GT),
                                   stablehlo::ComparisonTypeAttr::get(builder.getContext(), type));
  stablehlo::ReturnOp::create(builder, at, isBefore);
}

/// The indices along the last axis of a tensor.
mlir::Value places(mlir::OpBuilder& builder, mlir::Location at, mlir::Value tensor) {
  const RankedTensorType type =
      withElement(llvm::cast<RankedTensorType>(tensor.getType()), builder.getI32Type());
  const mlir::IntegerAttr axis = builder.getI64IntegerAttr(type.getRank() - 1);
  if (type.hasStaticShape())
    return stablehlo::IotaOp::create(builder, at, type, axis);
  return stablehlo::DynamicIotaOp::create(builder, at, type, shapeOf(builder, at, tensor), axis);
}

/// The first k of each row.
mlir::Value front(mlir::OpBuilder& builder, mlir::Location at, mlir::Value tensor, std::int64_t k,
                  RankedTensorType result) {
  const auto type = llvm::cast<RankedTensorType>(tensor.getType());
  const auto rank = static_cast<std::size_t>(type.getRank());
  if (type.hasStaticShape()) {
    llvm::SmallVector<std::int64_t> limits(type.getShape());
    limits.back() = k;
    const llvm::SmallVector<std::int64_t> starts(rank, 0), strides(rank, 1);
    return stablehlo::SliceOp::create(
        builder, at, result, tensor, builder.getDenseI64ArrayAttr(starts),
        builder.getDenseI64ArrayAttr(limits), builder.getDenseI64ArrayAttr(strides));
  }
  llvm::SmallVector<mlir::Value> limits;
  for (std::int64_t axis = 0; axis + 1 < type.getRank(); ++axis)
    limits.push_back(extentOf(builder, at, tensor, axis));
  limits.push_back(numbers(builder, at, static_cast<std::int32_t>(k)));
  return stablehlo::RealDynamicSliceOp::create(
      builder, at, result, tensor, numbers(builder, at, llvm::SmallVector<std::int32_t>(rank, 0)),
      shapeOfExtents(builder, at, limits),
      numbers(builder, at, llvm::SmallVector<std::int32_t>(rank, 1)));
}

} // namespace

Replacements legalizeTopK(mlir::OpBuilder& builder, mlir::Operation* op) {
  auto top = llvm::cast<chlo::TopKOp>(op);
  const mlir::Location at = op->getLoc();
  const auto type = llvm::cast<RankedTensorType>(top.getOperand().getType());
  const mlir::Value operands[] = {top.getOperand(), places(builder, at, top.getOperand())};
  const mlir::Type types[] = {operands[0].getType(), operands[1].getType()};
  auto sort = stablehlo::SortOp::create(builder, at, types, operands,
                                        builder.getI64IntegerAttr(type.getRank() - 1),
                                        builder.getBoolAttr(top.getIsStable()));
  addComparator(builder, at, sort.getComparator(), type.getElementType());
  Replacements results;
  for (auto [sorted, result] : llvm::zip_equal(sort.getResults(), top.getResults()))
    results.push_back(front(builder, at, sorted, static_cast<std::int64_t>(top.getK()),
                            llvm::cast<RankedTensorType>(result.getType())));
  return results;
}

} // namespace octavo::transforms
