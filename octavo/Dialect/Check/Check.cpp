#include "octavo/Dialect/Check/Check.h"

#include "octavo/Dialect/Inlining.h"

#include "octavo/Dialect/Check/CheckDialect.cpp.inc"

/// `, max_ulp_difference = 3, min_ulp_difference = 1`: either or both, in this order.
static mlir::ParseResult parseUlpBounds(mlir::OpAsmParser& parser, mlir::IntegerAttr& max,
                                        mlir::IntegerAttr& min) {
  const auto type = mlir::IntegerType::get(parser.getContext(), 64, mlir::IntegerType::Unsigned);
  while (succeeded(parser.parseOptionalComma())) {
    llvm::StringRef name;
    const llvm::SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return mlir::failure();
    const bool isMax = name == "max_ulp_difference" && !max && !min;
    if (!isMax && (name != "min_ulp_difference" || min))
      return parser.emitError(place, "expected ")
             << (max || min ? "" : "'max_ulp_difference' or ") << "'min_ulp_difference'";
    if (parser.parseEqual() || parser.parseAttribute(isMax ? max : min, type))
      return mlir::failure();
  }
  return mlir::success();
}

static void printUlpBounds(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::IntegerAttr max,
                           mlir::IntegerAttr min) {
  if (max && max.getValue() != 1)
    printer << ", max_ulp_difference = " << max.getValue().getZExtValue();
  if (min && !min.getValue().isZero())
    printer << ", min_ulp_difference = " << min.getValue().getZExtValue();
}

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

/// Refuses a tolerance that is NaN or negative: no difference is within it.
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
