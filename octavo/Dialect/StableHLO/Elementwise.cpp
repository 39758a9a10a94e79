// Elementwise family: type inference and verifiers.
#include "octavo/Dialect/StableHLO/Assembly.h"
#include "octavo/Dialect/StableHLO/StableHLO.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Elementwise.cpp.inc"

namespace octavo::stablehlo {

using llvm::LogicalResult;
using mlir::RankedTensorType;

using Location = std::optional<mlir::Location>;
using Types = llvm::SmallVectorImpl<mlir::Type>;

void StableHLODialect::registerElementwise() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Elementwise.cpp.inc"
      >();
}

namespace {

RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<RankedTensorType>(value.getType());
}

RankedTensorType booleans(RankedTensorType type) {
  return withElement(type, mlir::IntegerType::get(type.getContext(), 1));
}

} // namespace

LogicalResult AbsOp::inferReturnTypes(mlir::MLIRContext*, Location, Adaptor adaptor, Types& types) {
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const auto complex = llvm::dyn_cast<mlir::ComplexType>(operand.getElementType());
  types.push_back(complex ? withElement(operand, complex.getElementType()) : operand);
  return mlir::success();
}

LogicalResult ClampOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                        Types& types) {
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const auto fits = [&](mlir::Value bound, llvm::StringRef name, llvm::StringRef rule) {
    const RankedTensorType type = tensorType(bound);
    if (type.getRank() != 0 && type.getShape() != operand.getShape())
      return violates<ClampOp>(location, rule, name, " must be a scalar or have the shape ",
                               spell(operand.getShape()), " of the operand; found ",
                               spell(type.getShape()));
    if (type.getElementType() != operand.getElementType())
      return violates<ClampOp>(location, "C3", name, " must have the operand's element type ",
                               operand.getElementType(), "; found ", type.getElementType());
    return mlir::success();
  };
  if (failed(fits(adaptor.getMin(), "min", "C1")) || failed(fits(adaptor.getMax(), "max", "C2")))
    return mlir::failure();
  types.push_back(operand);
  return mlir::success();
}

LogicalResult CompareOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                          Types& types) {
  const RankedTensorType lhs = tensorType(adaptor.getLhs());
  const RankedTensorType rhs = tensorType(adaptor.getRhs());
  const mlir::Type element = lhs.getElementType();
  if (element != rhs.getElementType())
    return violates<CompareOp>(location, "C1", "operands must have one element type; found ",
                               element, " and ", rhs.getElementType());
  if (lhs.getShape() != rhs.getShape())
    return violates<CompareOp>(location, "C2", "operands must have one shape; found ",
                               spell(lhs.getShape()), " and ", spell(rhs.getShape()));
  const std::optional<ComparisonType> type = adaptor.getCompareType();
  if (type && *type != ComparisonType::NOTYPE) {
    const ComparisonType natural = isSignedInteger(element) ? ComparisonType::SIGNED
                                   : isBoolean(element) || isInteger(element)
                                       ? ComparisonType::UNSIGNED
                                       : ComparisonType::FLOAT;
    const bool isTotalOrder = *type == ComparisonType::TOTALORDER && isFloat(element);
    if (*type != natural && !isTotalOrder)
      return violates<CompareOp>(location, "C3", "elements of type ", element, " are compared as ",
                                 stringifyComparisonType(natural),
                                 isFloat(element) ? " or TOTALORDER" : "", "; found ",
                                 stringifyComparisonType(*type));
  }
  types.push_back(booleans(lhs));
  return mlir::success();
}

LogicalResult ConvertOp::verify() {
  const RankedTensorType operand = getOperand().getType();
  if (operand.getShape() != getType().getShape())
    return violates<ConvertOp>(getLoc(), "C1", "operand and result must have one shape; found ",
                               spell(operand.getShape()), " and ", spell(getType().getShape()));
  return mlir::success();
}

LogicalResult BitcastConvertOp::verify() {
  const RankedTensorType operand = getOperand().getType();
  const RankedTensorType result = getType();
  if (isComplex(operand.getElementType()) != isComplex(result.getElementType()))
    return violates<BitcastConvertOp>(getLoc(), "C2",
                                      "operand and result must both be complex or neither; found ",
                                      operand, " and ", result);
  const int from = bitWidth(operand.getElementType());
  const int to = bitWidth(result.getElementType());
  // The side with the narrower element has one axis more, which holds the parts of a wide one.
  const bool narrows = to < from;
  const RankedTensorType wide = narrows || from == to ? operand : result;
  const RankedTensorType narrow = narrows || from == to ? result : operand;
  llvm::SmallVector<std::int64_t> shape(wide.getShape());
  if (from != to) {
    if (std::max(from, to) % std::min(from, to) != 0)
      return violates<BitcastConvertOp>(getLoc(), "C1", "an element of ", std::max(from, to),
                                        " bits is not a whole number of elements of ",
                                        std::min(from, to));
    shape.push_back(std::max(from, to) / std::min(from, to));
  }
  if (narrow.getShape() != llvm::ArrayRef(shape))
    return violates<BitcastConvertOp>(
        getLoc(), "C1", "the shape of ", narrow, " must be ", spell(shape),
        from == to ? ", that of " : ", that of the wider elements and an axis of their parts: ",
        wide);
  return mlir::success();
}

LogicalResult IsFiniteOp::inferReturnTypes(mlir::MLIRContext*, Location, Adaptor adaptor,
                                           Types& types) {
  types.push_back(booleans(tensorType(adaptor.getX())));
  return mlir::success();
}

LogicalResult ReducePrecisionOp::inferReturnTypes(mlir::MLIRContext*, Location location,
                                                  Adaptor adaptor, Types& types) {
  const auto exponentBits = static_cast<std::int32_t>(adaptor.getExponentBits());
  const auto mantissaBits = static_cast<std::int32_t>(adaptor.getMantissaBits());
  if (exponentBits < 1)
    return violates<ReducePrecisionOp>(location, "C2", "exponent_bits must be at least 1; found ",
                                       exponentBits);
  if (mantissaBits < 0)
    return violates<ReducePrecisionOp>(location, "C3", "mantissa_bits must not be negative; found ",
                                       mantissaBits);
  types.push_back(adaptor.getOperand().getType());
  return mlir::success();
}

LogicalResult SelectOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                         Types& types) {
  const RankedTensorType predicate = tensorType(adaptor.getPred());
  const RankedTensorType onTrue = tensorType(adaptor.getOnTrue());
  if (onTrue != adaptor.getOnFalse().getType())
    return violates<SelectOp>(location, "C2", "on_true and on_false must have one type; found ",
                              onTrue, " and ", adaptor.getOnFalse().getType());
  if (predicate.getRank() != 0 && predicate.getShape() != onTrue.getShape())
    return violates<SelectOp>(location, "C1", "pred must be a scalar or have the shape ",
                              spell(onTrue.getShape()), " of on_true; found ",
                              spell(predicate.getShape()));
  types.push_back(onTrue);
  return mlir::success();
}

} // namespace octavo::stablehlo
