// octavo.rows_of_groups: its verifier, constraints (R1) and (R2) of RowsOfGroups.td.
#include "octavo/Dialect/Octavo/RowsOfGroups.h"

#include "mlir/IR/TypeUtilities.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/Octavo/RowsOfGroups.cpp.inc"

namespace octavo::ir {

mlir::RankedTensorType RowsOfGroupsOp::inferredResult() {
  const mlir::RankedTensorType all = getAll().getType();
  llvm::SmallVector<std::int64_t> shape(all.getShape());
  shape.erase(shape.begin() + 1);
  return mlir::RankedTensorType::get(shape, all.getElementType());
}

mlir::LogicalResult RowsOfGroupsOp::verify() {
  const mlir::RankedTensorType all = getAll().getType();
  const std::int64_t sizes = getGroupSizes().getType().getDimSize(0);
  if (all.getRank() < 2 || failed(mlir::verifyCompatibleShape({all.getDimSize(1)}, {sizes})))
    return emitOpError() << "(R1) needs a second axis of as many places as there are sizes, found "
                         << all << " and " << getGroupSizes().getType();
  const mlir::RankedTensorType expected = inferredResult();
  if (expected.getElementType() != getType().getElementType() ||
      failed(mlir::verifyCompatibleShape(expected, getType())))
    return emitOpError() << "(R2) the result is " << expected << ", found " << getType();
  return mlir::success();
}

} // namespace octavo::ir
