#include "octavo/Transforms/Walks/MergedAxes.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

MergedAxes mergeContracted(llvm::ArrayRef<std::int64_t> shape,
                           llvm::ArrayRef<std::int64_t> batching,
                           llvm::ArrayRef<std::int64_t> contracting) {
  MergedAxes merged;
  merged.order =
      llvm::to_vector(llvm::seq<std::int64_t>(0, static_cast<std::int64_t>(shape.size())));
  bool areTogether = true;
  for (const auto& [axis, next] : llvm::zip(contracting, contracting.drop_front()))
    areTogether = areTogether && next == axis + 1;
  if (!areTogether) {
    llvm::erase_if(merged.order,
                   [&](std::int64_t axis) { return llvm::is_contained(contracting, axis); });
    llvm::append_range(merged.order, contracting);
  }

  llvm::SmallVector<std::int64_t> placeOf(shape.size());
  for (std::int64_t axis : merged.order) {
    const bool isContracted = llvm::is_contained(contracting, axis);
    if (!isContracted || axis == contracting.front()) {
      placeOf[axis] = static_cast<std::int64_t>(merged.shape.size());
      merged.shape.push_back(shape[axis]);
    } else {
      merged.shape.back() *= shape[axis];
    }
  }
  for (std::int64_t axis : batching)
    merged.batching.push_back(placeOf[axis]);
  merged.contracting = placeOf[contracting.front()];
  return merged;
}

mlir::Value applyMerge(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                       const MergedAxes& merged) {
  const auto typed = [&](llvm::ArrayRef<std::int64_t> shape) {
    return mlir::RankedTensorType::get(
        shape, llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType());
  };
  if (!llvm::is_sorted(merged.order)) {
    const auto shape = llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
    const auto moved =
        llvm::map_to_vector(merged.order, [&](std::int64_t axis) { return shape[axis]; });
    value = stablehlo::TransposeOp::create(builder, location, typed(moved), value, merged.order);
  }
  if (merged.shape.size() != merged.order.size())
    value = stablehlo::ReshapeOp::create(builder, location, typed(merged.shape), value);
  return value;
}

} // namespace octavo::transforms
