#include "octavo/Compiler/Kernels/Views.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace octavo::compiler {

llvm::ArrayRef<std::int64_t> shapeOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getShape();
}

std::int64_t sizeOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getNumElements();
}

llvm::SmallVector<Index> indicesOf(const Index& linear, llvm::ArrayRef<std::int64_t> shape,
                                   Variables& variables) {
  const auto strides = rowMajorStrides(shape);
  llvm::SmallVector<Index> indices(shape.size());
  Index rest = linear;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] <= 1)
      continue;
    if (std::optional<Index::Division> division = rest.dividedBy(strides[axis])) {
      indices[axis] = division->quotient;
      rest = division->remainder;
      continue;
    }
    indices[axis] = Index::variable(variables.quotient(rest, strides[axis]), shape[axis]);
    rest = Index::variable(variables.remainder(rest, strides[axis]), strides[axis]);
  }
  return indices;
}

bool isView(mlir::Operation* op) {
  return op != nullptr &&
         llvm::isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp, stablehlo::BroadcastOp,
                   stablehlo::TransposeOp, stablehlo::SliceOp, stablehlo::ReverseOp>(op);
}

Element sourceOf(mlir::Operation* view, const Index& linear, Variables& variables) {
  const mlir::Value operand = view->getOperand(0);
  if (llvm::isa<stablehlo::ReshapeOp>(view))
    return {operand, linear};
  const llvm::ArrayRef<std::int64_t> from = shapeOf(operand);
  const llvm::SmallVector<Index> at = indicesOf(linear, shapeOf(view->getResult(0)), variables);
  llvm::SmallVector<Index> indices(from.size());
  llvm::TypeSwitch<mlir::Operation*>(view)
      .Case([&](stablehlo::BroadcastInDimOp op) {
        for (const auto [axis, to] : llvm::enumerate(op.getBroadcastDimensions()))
          if (from[axis] != 1)
            indices[axis] = at[static_cast<std::size_t>(to)];
      })
      .Case([&](stablehlo::BroadcastOp) {
        for (std::size_t axis = 0; axis < from.size(); ++axis)
          indices[axis] = at[at.size() - from.size() + axis];
      })
      .Case([&](stablehlo::TransposeOp op) {
        for (const auto [axis, source] : llvm::enumerate(op.getPermutation()))
          indices[static_cast<std::size_t>(source)] = at[axis];
      })
      .Case([&](stablehlo::SliceOp op) {
        for (std::size_t axis = 0; axis < from.size(); ++axis)
          indices[axis] = at[axis] * op.getStrides()[axis] + op.getStartIndices()[axis];
      })
      .Case([&](stablehlo::ReverseOp op) {
        for (std::size_t axis = 0; axis < from.size(); ++axis)
          indices[axis] = llvm::is_contained(op.getDimensions(), static_cast<std::int64_t>(axis))
                              ? at[axis] * -1 + (from[axis] - 1)
                              : at[axis];
      });
  return {operand, linearIndex(indices, from)};
}

Element sourceOf(Element element, Variables& variables) {
  for (mlir::Operation* op; isView(op = element.tensor.getDefiningOp());)
    element = sourceOf(op, element.linear, variables);
  return element;
}

mlir::Value inMemory(mlir::Value value) {
  while (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

} // namespace octavo::compiler
