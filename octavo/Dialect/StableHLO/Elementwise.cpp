// Elementwise family: type inference and verifiers.
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Assembly.h"
#include "octavo/Dialect/StableHLO/AttributeFields.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Elementwise.cpp.inc"

namespace octavo::stablehlo {

using llvm::LogicalResult;
using mlir::RankedTensorType;

void StableHLODialect::registerElementwise() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Elementwise.cpp.inc"
      >();
}

namespace {

RankedTensorType booleans(RankedTensorType type) {
  return withElement(type, mlir::IntegerType::get(type.getContext(), 1));
}

} // namespace

LogicalResult AddOp::inferReturnTypes(mlir::MLIRContext*, Location, Adaptor adaptor, Types& types) {
  const RankedTensorType lhs = tensorType(adaptor.getLhs());
  const RankedTensorType rhs = tensorType(adaptor.getRhs());
  if (!isCompatibleShape(lhs, rhs))
    return mlir::failure();
  // A sum is quantized per axis if either side is (C5).
  const bool isRight = isQuantizedPerAxis(rhs.getElementType());
  const mlir::Type element = isRight ? rhs.getElementType() : lhs.getElementType();
  types.push_back(mostSpecific(withElement(lhs, element), withElement(rhs, element)));
  return mlir::success();
}

bool AddOp::isCompatibleReturnTypes(mlir::TypeRange inferred, mlir::TypeRange given) {
  return llvm::equal(inferred, given, haveOneBaseline);
}

namespace {

/// C2 to C7: a sum with a quantized operand or result.
LogicalResult verifyQuantizedSum(AddOp op, mlir::Type lhs, mlir::Type rhs, mlir::Type result) {
  const auto violated = [&](llvm::StringRef rule, llvm::StringRef what) {
    return violates<AddOp>(op.getLoc(), rule, what, "; found ", lhs, ", ", rhs, " and ", result);
  };
  if (!isQuantized(lhs) || !isQuantized(rhs) || !isQuantized(result))
    return violated("C2", "operands and result must all be quantized or none");
  const numerics::QuantizedType l = elementType(lhs)->quantized();
  const numerics::QuantizedType r = elementType(rhs)->quantized();
  const numerics::QuantizedType s = elementType(result)->quantized();
  if (l.storage != r.storage || l.storage != s.storage)
    return violated("C3", "operands and result must have one storage type");
  if (l.expressed != r.expressed || l.expressed != s.expressed)
    return violated("C4", "operands and result must have one expressed type");
  if ((l.axis || r.axis) != s.axis.has_value())
    return violated("C5", "the result must be quantized per axis if and only if an operand is");
  if (l.axis && l.axis != s.axis)
    return violated("C6", "lhs and result must have one quantization dimension");
  if (r.axis && r.axis != s.axis)
    return violated("C7", "rhs and result must have one quantization dimension");
  return mlir::success();
}

} // namespace

LogicalResult AddOp::verify() {
  const RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(), result = getType();
  const mlir::Type left = lhs.getElementType(), right = rhs.getElementType();
  const bool isAnyQuantized =
      isQuantized(left) || isQuantized(right) || isQuantized(result.getElementType());
  if (isAnyQuantized && failed(verifyQuantizedSum(*this, left, right, result.getElementType())))
    return mlir::failure();
  const bool isOneElement = left == right && left == result.getElementType();
  if (!isCompatibleShape(lhs, result) || !isCompatibleShape(rhs, result) ||
      !isCompatibleShape(lhs, rhs) || (!isAnyQuantized && !isOneElement))
    return violates<AddOp>(getLoc(), "C1", "operands and result must have one type; found ",
                           isCompatible(lhs, result) ? rhs : lhs, " and ", result);
  return mlir::success();
}

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
    if (type.getRank() != 0 && !isCompatibleShape(type, operand))
      return violates<ClampOp>(location, rule, name, " must be a scalar or have the shape ",
                               spell(extentsOf(operand)), " of the operand; found ",
                               spell(extentsOf(type)));
    if (!haveOneBaselineElement(type.getElementType(), operand.getElementType()))
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
  if (!haveOneBaselineElement(element, rhs.getElementType()))
    return violates<CompareOp>(location, "C1", "operands must have one element type; found ",
                               element, " and ", rhs.getElementType());
  if (!isCompatibleShape(lhs, rhs))
    return violates<CompareOp>(location, "C2", "operands must have one shape; found ",
                               spell(extentsOf(lhs)), " and ", spell(extentsOf(rhs)));
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
  types.push_back(mostSpecific(booleans(lhs), booleans(rhs)));
  return mlir::success();
}

LogicalResult ConvertOp::verify() {
  const RankedTensorType operand = getOperand().getType();
  if (!isCompatibleShape(operand, getType()))
    return violates<ConvertOp>(getLoc(), "C1", "operand and result must have one shape; found ",
                               spell(extentsOf(operand)), " and ", spell(extentsOf(getType())));
  return mlir::success();
}

mlir::OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? getOperand() : mlir::Value();
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
  // The side with narrower elements has one more axis, which holds the parts of a wide element.
  const bool narrows = to < from;
  const RankedTensorType wide = narrows || from == to ? operand : result;
  const RankedTensorType narrow = narrows || from == to ? result : operand;
  Extents shape = extentsOf(wide);
  if (from != to) {
    if (std::max(from, to) % std::min(from, to) != 0)
      return violates<BitcastConvertOp>(getLoc(), "C1", "an element of ", std::max(from, to),
                                        " bits is not a whole number of elements of ",
                                        std::min(from, to));
    shape.push_back(Extent::known(std::max(from, to) / std::min(from, to)));
  }
  if (!areCompatible(extentsOf(narrow), shape))
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
  if (!haveOneBaseline(onTrue, adaptor.getOnFalse().getType()))
    return violates<SelectOp>(location, "C2", "on_true and on_false must have one type; found ",
                              onTrue, " and ", adaptor.getOnFalse().getType());
  if (predicate.getRank() != 0 && !isCompatibleShape(predicate, onTrue))
    return violates<SelectOp>(location, "C1", "pred must be a scalar or have the shape ",
                              spell(extentsOf(onTrue)), " of on_true; found ",
                              spell(extentsOf(predicate)));
  types.push_back(mostSpecific(onTrue, adaptor.getOnFalse().getType()));
  return mlir::success();
}

ResultAccuracyAttr ResultAccuracyAttr::ofMode(mlir::MLIRContext* context, ResultAccuracyMode mode) {
  return get(context, llvm::APFloat(0.0), llvm::APFloat(0.0), 0,
             ResultAccuracyModeAttr::get(context, mode));
}

LogicalResult ResultAccuracyAttr::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                         llvm::APFloat atol, llvm::APFloat rtol, std::int64_t ulps,
                                         ResultAccuracyModeAttr mode) {
  if (atol.isNegative() || rtol.isNegative() || ulps < 0)
    return emitError() << "atol, rtol and ulps must not be negative";
  if (mode.getValue() != ResultAccuracyMode::TOLERANCE &&
      (!atol.isZero() || !rtol.isZero() || ulps != 0))
    return emitError() << "atol, rtol and ulps belong to the mode TOLERANCE; found them with "
                       << stringifyResultAccuracyMode(mode.getValue());
  return mlir::success();
}

mlir::Attribute ResultAccuracyAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  llvm::APFloat atol(0.0), rtol(0.0);
  std::int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  const llvm::SMLoc at = parser.getCurrentLocation();
  if (parseFields(parser, Presence::Optional,
                  {{"atol", atol}, {"rtol", rtol}, {"ulps", ulps}, {"mode", mode}}))
    return {};
  if (!mode) {
    parser.emitError(at) << "field 'mode' is missing";
    return {};
  }
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), atol, rtol, ulps,
                    mode);
}

void ResultAccuracyAttr::print(mlir::AsmPrinter& printer) const {
  FieldPrinter fields(printer);
  if (!getAtol().isZero())
    fields.field("atol", getAtol());
  if (!getRtol().isZero())
    fields.field("rtol", getRtol());
  fields.optional("ulps", getUlps());
  fields.field("mode", mlir::Attribute(getMode()));
}

LogicalResult MapOp::verify() {
  const Checker check(*this);
  if (getInputs().empty())
    return check.violated("C2", "there must be at least one input");
  for (mlir::Value input : getInputs())
    if (!isCompatibleShape(tensorType(input), getType()))
      return check.violated("C1", "inputs and result must have one shape; found ", input.getType(),
                            " and ", getType());
  const llvm::ArrayRef<std::int64_t> dimensions = getDimensions();
  const auto isInOrder = llvm::all_of(llvm::enumerate(dimensions), [](const auto& entry) {
    return static_cast<std::int64_t>(entry.index()) == entry.value();
  });
  if (static_cast<std::int64_t>(dimensions.size()) != tensorType(getInputs().front()).getRank() ||
      !isInOrder)
    return check.violated("C3", "dimensions must be all axes of the inputs in order; found ",
                          spell(dimensions));
  return mlir::success();
}

LogicalResult MapOp::verifyRegions() {
  const Checker check(*this);
  mlir::Block& block = getComputation().front();
  llvm::SmallVector<mlir::Type> expected;
  for (mlir::Value input : getInputs())
    expected.push_back(RankedTensorType::get({}, tensorType(input).getElementType()));
  if (block.getArgumentTypes() != mlir::TypeRange(expected))
    return check.violated("C4", "the computation must take a scalar of each input, ",
                          mlir::TypeRange(expected), "; it takes ",
                          mlir::TypeRange(block.getArgumentTypes()));
  const mlir::TypeRange returned = block.getTerminator()->getOperandTypes();
  const mlir::Type result = RankedTensorType::get({}, getType().getElementType());
  if (returned.size() != 1 || returned.front() != result)
    return check.violated("C4", "the computation must return ", result, "; found ", returned);
  return mlir::success();
}

} // namespace octavo::stablehlo
