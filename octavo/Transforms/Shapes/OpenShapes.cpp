#include "octavo/Transforms/Shapes/OpenShapes.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Shapes/RuntimeShape.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

using mlir::RankedTensorType;
using mlir::ShapedType;
using mlir::Value;

Value shapeOperand(mlir::Operation* op) {
  Value shape;
  if (auto broadcast = llvm::dyn_cast_or_null<stablehlo::DynamicBroadcastInDimOp>(op))
    shape = broadcast.getOutputDimensions();
  else if (auto reshape = llvm::dyn_cast_or_null<stablehlo::DynamicReshapeOp>(op))
    shape = reshape.getOutputShape();
  return shape && mlir::getElementTypeOrSelf(shape.getType()).isInteger() ? shape : Value();
}

/// Entry `axis` of a shape that is a concatenation of single entries, as most shapes are; else
/// null.
static Value joinedEntry(Value shape, std::size_t axis) {
  auto joined = shape.getDefiningOp<stablehlo::ConcatenateOp>();
  return joined && llvm::all_of(joined->getOperands(),
                                [](Value size) { return rankedType(size).getDimSize(0) == 1; })
             ? joined->getOperand(static_cast<unsigned>(axis))
             : Value();
}

std::optional<std::int64_t> numberAt(Value shape, std::size_t axis) {
  const Value joined = joinedEntry(shape, axis);
  Value entry = joined ? joined : shape;
  while (llvm::isa_and_nonnull<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(
      entry.getDefiningOp()))
    entry = entry.getDefiningOp()->getOperand(0);
  mlir::DenseIntElementsAttr numbers;
  if (!mlir::matchPattern(entry, mlir::m_Constant(&numbers)))
    return {};
  if (numbers.isSplat())
    return numbers.getSplatValue<llvm::APInt>().getSExtValue();
  return entry == shape
             ? std::optional((*(numbers.value_begin<llvm::APInt>() + axis)).getSExtValue())
             : std::nullopt;
}

Value OpenShapes::sizeAt(Value shape, std::size_t axis) {
  const auto at = static_cast<std::int64_t>(axis);
  if (const Value entry = joinedEntry(shape, axis))
    shape = entry;
  if (rankedType(shape).getDimSize(0) != 1)
    shape = stablehlo::SliceOp::create(builder, location, rankedType(shape).clone({1}), shape,
                                       llvm::ArrayRef(at), llvm::ArrayRef(at + 1),
                                       llvm::ArrayRef<std::int64_t>(1));
  const auto type = RankedTensorType::get({1}, builder.getI32Type());
  return shape.getType() == type
             ? shape
             : stablehlo::ConvertOp::create(builder, location, type, shape).getResult();
}

Value OpenShapes::sizeOf(Value tensor, std::size_t axis) {
  return extentOf(builder, location, tensor, static_cast<std::int64_t>(axis));
}

Value OpenShapes::atMostOne(Value size) {
  return stablehlo::MinOp::create(builder, location, size, numbers(builder, location, 1));
}

Value OpenShapes::shape(llvm::ArrayRef<std::int64_t> extents, SizeOf sizeOf) {
  llvm::SmallVector<Value> sizes;
  for (auto [axis, extent] : llvm::enumerate(extents))
    sizes.push_back(ShapedType::isDynamic(extent)
                        ? sizeOf(axis)
                        : numbers(builder, location, static_cast<std::int32_t>(extent)));
  return shapeOfExtents(builder, location, sizes);
}

Value OpenShapes::broadcast(Value value, llvm::ArrayRef<std::int64_t> axes,
                            llvm::ArrayRef<std::int64_t> shape, SizeOf sizeOf) {
  const RankedTensorType type = rankedType(value).clone(shape);
  if (type.hasStaticShape() && rankedType(value).hasStaticShape())
    return stablehlo::BroadcastInDimOp::create(builder, location, type, value, axes);
  return transforms::broadcast(builder, location, value, this->shape(shape, sizeOf), type, axes);
}

Value OpenShapes::reshape(Value value, llvm::ArrayRef<std::int64_t> shape, SizeOf sizeOf) {
  const RankedTensorType type = rankedType(value).clone(shape);
  // A single open extent follows from the number of elements.
  if (value.getType() == type && llvm::count_if(shape, ShapedType::isDynamic) <= 1)
    return value;
  if (type.hasStaticShape() && rankedType(value).hasStaticShape())
    return stablehlo::ReshapeOp::create(builder, location, type, value);
  return stablehlo::DynamicReshapeOp::create(builder, location, type, value,
                                             this->shape(shape, sizeOf));
}

Value OpenShapes::filled(RankedTensorType type, mlir::Attribute number, SizeOf sizeOf) {
  const auto one = type.clone(llvm::ArrayRef<std::int64_t>());
  const auto constant = [&](RankedTensorType of) -> Value {
    return stablehlo::ConstantOp::create(
        builder, location,
        llvm::cast<mlir::ElementsAttr>(mlir::Attribute(mlir::DenseElementsAttr::get(of, number))));
  };
  return type.hasStaticShape() ? constant(type)
                               : broadcast(constant(one), {}, type.getShape(), sizeOf);
}

} // namespace octavo::transforms
