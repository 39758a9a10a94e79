#include "octavo/Transforms/Shapes/RuntimeShape.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"

namespace octavo::transforms {

using mlir::RankedTensorType;

mlir::Value numbers(mlir::OpBuilder& builder, mlir::Location at,
                    llvm::ArrayRef<std::int32_t> numbers) {
  const auto type =
      RankedTensorType::get({static_cast<std::int64_t>(numbers.size())}, builder.getI32Type());
  return stablehlo::ConstantOp::create(builder, at, mlir::DenseIntElementsAttr::get(type, numbers));
}

mlir::Value extentOf(mlir::OpBuilder& builder, mlir::Location at, mlir::Value tensor,
                     std::int64_t axis) {
  const auto type = llvm::cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(static_cast<unsigned>(axis)))
    return numbers(builder, at, static_cast<std::int32_t>(type.getDimSize(axis)));
  const mlir::Value size = stablehlo::GetDimensionSizeOp::create(
      builder, at, RankedTensorType::get({}, builder.getI32Type()), tensor,
      builder.getI64IntegerAttr(axis));
  return stablehlo::ReshapeOp::create(builder, at, RankedTensorType::get({1}, builder.getI32Type()),
                                      size);
}

mlir::Value shapeOfExtents(mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange extents) {
  if (extents.size() == 1)
    return extents.front();
  const auto type =
      RankedTensorType::get({static_cast<std::int64_t>(extents.size())}, builder.getI32Type());
  return stablehlo::ConcatenateOp::create(builder, at, type, extents, builder.getI64IntegerAttr(0));
}

mlir::Value shapeOf(mlir::OpBuilder& builder, mlir::Location at, mlir::Value tensor) {
  llvm::SmallVector<mlir::Value> extents;
  const std::int64_t rank = llvm::cast<RankedTensorType>(tensor.getType()).getRank();
  for (std::int64_t axis = 0; axis < rank; ++axis)
    extents.push_back(extentOf(builder, at, tensor, axis));
  return shapeOfExtents(builder, at, extents);
}

mlir::Value broadcast(mlir::OpBuilder& builder, mlir::Location at, mlir::Value operand,
                      mlir::Value shape, RankedTensorType type, llvm::ArrayRef<std::int64_t> axes) {
  return stablehlo::DynamicBroadcastInDimOp::create(
      builder, at, type, operand, shape, builder.getDenseI64ArrayAttr(axes),
      /*known_expanding_dimensions=*/nullptr, /*known_nonexpanding_dimensions=*/nullptr);
}

} // namespace octavo::transforms
