#include "octavo/Dialect/Check/Check.h"

#include "octavo/Dialect/Inlining.h"

#include "octavo/Dialect/Check/CheckDialect.cpp.inc"

#define GET_OP_CLASSES
#include "octavo/Dialect/Check/Check.cpp.inc"

namespace octavo::check {

void CheckDialect::initialize() {
  addInterfaces<InlineEverything>();
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/Check/Check.cpp.inc"
      >();
}

/// A tolerance that no difference could be compared with.
static mlir::LogicalResult verifyTolerance(mlir::Operation* op, const llvm::APFloat& tolerance) {
  if (tolerance.isNaN() || (tolerance.isNegative() && !tolerance.isZero()))
    return op->emitOpError("needs a tolerance of at least 0");
  return mlir::success();
}

mlir::LogicalResult ExpectAlmostEqOp::verify() { return verifyTolerance(*this, getTolerance()); }

mlir::LogicalResult ExpectAlmostEqConstOp::verify() {
  return verifyTolerance(*this, getTolerance());
}

mlir::LogicalResult ExpectCloseOp::verify() {
  if (getMaxUlpDifference() < getMinUlpDifference())
    return emitOpError("needs min_ulp_difference <= max_ulp_difference, found ")
           << getMinUlpDifference() << " and " << getMaxUlpDifference();
  return mlir::success();
}

} // namespace octavo::check
