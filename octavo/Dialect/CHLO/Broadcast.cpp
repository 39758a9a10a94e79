#include "octavo/Dialect/CHLO/Broadcast.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>
#include <utility>

namespace octavo::chlo {

Axes alignedAxes(std::size_t rank, std::size_t resultRank) {
  Axes axes(rank);
  std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(resultRank - rank));
  return axes;
}

llvm::Expected<Broadcast> broadcastOf(llvm::ArrayRef<std::int64_t> lhs,
                                      llvm::ArrayRef<std::int64_t> rhs,
                                      std::optional<llvm::ArrayRef<std::int64_t>> dimensions) {
  const bool isLeftSmall = lhs.size() <= rhs.size();
  const auto small = isLeftSmall ? lhs : rhs, large = isLeftSmall ? rhs : lhs;
  Axes axes = alignedAxes(small.size(), large.size());
  if (dimensions) {
    if (dimensions->size() != small.size())
      return llvm::createStringError(
          "broadcast_dimensions must have an entry for each of the " + llvm::Twine(small.size()) +
          " axes of the operand of smaller rank; it has " + llvm::Twine(dimensions->size()));
    for (std::size_t i = 0; i < axes.size(); ++i) {
      axes[i] = (*dimensions)[i];
      if (axes[i] < 0 || axes[i] >= static_cast<std::int64_t>(large.size()) ||
          (i > 0 && axes[i] <= axes[i - 1]))
        return llvm::createStringError(
            "broadcast_dimensions must ascend and lie in [0, " + llvm::Twine(large.size()) +
            "), the axes of the operand of larger rank; found " + llvm::Twine(axes[i]));
    }
  }
  Broadcast result{axes, axes, large.vec()};
  (isLeftSmall ? result.rhsAxes : result.lhsAxes).resize(large.size());
  std::iota((isLeftSmall ? result.rhsAxes : result.lhsAxes).begin(),
            (isLeftSmall ? result.rhsAxes : result.lhsAxes).end(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t& extent = result.shape[axes[i]];
    if (extent == 1 || (mlir::ShapedType::isDynamic(extent) && small[i] != 1))
      extent = small[i];
    else if (small[i] != 1 && small[i] != extent && !mlir::ShapedType::isDynamic(small[i]))
      return llvm::createStringError("extents must be equal or 1; axis " + llvm::Twine(axes[i]) +
                                     " of the result has " + llvm::Twine(extent) + " and " +
                                     llvm::Twine(small[i]));
  }
  return result;
}

llvm::Expected<Shape> broadcastShape(llvm::ArrayRef<llvm::ArrayRef<std::int64_t>> operands) {
  Shape shape;
  for (const llvm::ArrayRef<std::int64_t> operand : operands) {
    llvm::Expected<Broadcast> broadcast = broadcastOf(shape, operand, std::nullopt);
    if (!broadcast)
      return broadcast.takeError();
    shape = std::move(broadcast->shape);
  }
  return shape;
}

std::optional<llvm::ArrayRef<std::int64_t>> broadcastDimensions(mlir::Operation* op) {
  const auto given = llvm::dyn_cast_or_null<mlir::DenseI64ArrayAttr>(
      op->getInherentAttr("broadcast_dimensions").value_or(nullptr));
  return given ? std::optional(given.asArrayRef()) : std::nullopt;
}

llvm::LogicalResult verifyBroadcastResult(mlir::Operation* op, const Shape& shape) {
  const auto result = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  if (mlir::failed(mlir::verifyCompatibleShape(shape, result.getShape())))
    return op->emitOpError("the result must have type ")
           << result.clone(shape) << "; found " << result;
  return mlir::success();
}

llvm::LogicalResult verifyBroadcast(mlir::Operation* op) {
  const auto shape = [](mlir::Type type) {
    return llvm::cast<mlir::RankedTensorType>(type).getShape();
  };
  llvm::Expected<Broadcast> broadcast =
      broadcastOf(shape(op->getOperand(0).getType()), shape(op->getOperand(1).getType()),
                  broadcastDimensions(op));
  if (!broadcast)
    return op->emitOpError(llvm::toString(broadcast.takeError()));
  return verifyBroadcastResult(op, broadcast->shape);
}

} // namespace octavo::chlo
