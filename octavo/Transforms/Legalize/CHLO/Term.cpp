#include "octavo/Transforms/Legalize/CHLO/Term.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Shapes/RuntimeShape.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APFloat.h"

#include <limits>

namespace octavo::transforms {

using mlir::RankedTensorType;

RankedTensorType withElement(RankedTensorType type, mlir::Type element) {
  return RankedTensorType::get(type.getShape(), element, type.getEncoding());
}

Formula::Formula(mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange operands,
                 RankedTensorType result)
    : builder(builder), at(at), operands(operands), resultType(result), shape(result) {
  for (const mlir::Value operand : operands)
    shape = llvm::cast<RankedTensorType>(
        stablehlo::mostSpecific(shape, withElement(llvm::cast<RankedTensorType>(operand.getType()),
                                                   shape.getElementType())));
}

RankedTensorType Formula::type(mlir::Type element) const { return withElement(shape, element); }

Term Formula::operand(unsigned i) {
  const mlir::Value value = operands[i];
  const RankedTensorType wanted = type(mlir::getElementTypeOrSelf(value.getType()));
  if (value.getType() == wanted)
    return {*this, value};
  return {*this, stablehlo::ConvertOp::create(builder, at, wanted, value)};
}

Term Formula::wideOperand(unsigned i) {
  const mlir::Type element = mlir::getElementTypeOrSelf(operands[i].getType());
  const mlir::Type wide = element.isF64() ? element : builder.getF32Type();
  if (element == wide)
    return operand(i);
  return {*this, stablehlo::ConvertOp::create(builder, at, type(wide), operands[i])};
}

mlir::Value Formula::result(Term term) {
  if (term.value().getType() == resultType)
    return term.value();
  return stablehlo::ConvertOp::create(builder, at, resultType, term.value());
}

Term Formula::constant(double number, mlir::Type element) {
  if (auto floating = llvm::dyn_cast<mlir::FloatType>(element))
    return constant(mlir::FloatAttr::get(floating, number));
  return constant(builder.getIntegerAttr(element, static_cast<std::int64_t>(number)));
}

Term Formula::constant(mlir::TypedAttr number) {
  mlir::Value& known = constants[number];
  if (known)
    return {*this, known};
  const RankedTensorType wanted = type(number.getType());
  const auto splat = [&](RankedTensorType type) -> mlir::Value {
    return stablehlo::ConstantOp::create(
        builder, at, mlir::DenseElementsAttr::get(type, mlir::Attribute(number)));
  };
  if (wanted.hasStaticShape())
    return {*this, known = splat(wanted)};
  if (!dynamicShape)
    dynamicShape = shapeOf(builder, at, operands.front());
  return {*this, known = broadcast(builder, at, splat(RankedTensorType::get({}, number.getType())),
                                   dynamicShape, wanted, {})};
}

Term Formula::write(llvm::StringRef operation, llvm::ArrayRef<Term> terms, mlir::Type element) {
  llvm::SmallVector<mlir::Value> values;
  for (const Term term : terms)
    values.push_back(term.value());
  mlir::Operation* made =
      builder.create(at, builder.getStringAttr("stablehlo." + operation), values, type(element));
  return {*this, made->getResult(0)};
}

mlir::Type Term::element() const { return mlir::getElementTypeOrSelf(tensor.getType()); }

bool Term::isF64() const {
  const auto complex = llvm::dyn_cast<mlir::ComplexType>(element());
  return (complex ? complex.getElementType() : element()).isF64();
}

double Term::largest() const {
  return choose(std::numeric_limits<float>::max(), std::numeric_limits<double>::max());
}
double Term::epsilon() const {
  return choose(std::numeric_limits<float>::epsilon(), std::numeric_limits<double>::epsilon());
}

namespace {

Term unary(llvm::StringRef operation, Term x) {
  return x.formula().write(operation, {x}, x.element());
}

std::pair<Term, Term> both(const TermOrNumber& x, const TermOrNumber& y) {
  const Term known = x.term() ? *x.term() : *y.term();
  return {x.like(known), y.like(known)};
}

Term binary(llvm::StringRef operation, const TermOrNumber& x, const TermOrNumber& y) {
  const auto [left, right] = both(x, y);
  return left.formula().write(operation, {left, right}, left.element());
}

Term comparison(stablehlo::ComparisonDirection direction, const TermOrNumber& x,
                const TermOrNumber& y) {
  using Type = stablehlo::ComparisonType;
  const auto [left, right] = both(x, y);
  const mlir::Type element = left.element();
  const Type type = !llvm::isa<mlir::IntegerType>(element)                ? Type::FLOAT
                    : element.isUnsignedInteger() || element.isInteger(1) ? Type::UNSIGNED
                                                                          : Type::SIGNED;
  Formula& formula = left.formula();
  mlir::OpBuilder& builder = formula.builder;
  mlir::MLIRContext* context = builder.getContext();
  return {formula, stablehlo::CompareOp::create(
                       builder, formula.at, formula.type(builder.getI1Type()), left.value(),
                       right.value(), stablehlo::ComparisonDirectionAttr::get(context, direction),
                       stablehlo::ComparisonTypeAttr::get(context, type))};
}

/// The signless integer type of the element's width.
mlir::Type word(Term x) {
  return x.formula().builder.getIntegerType(x.element().getIntOrFloatBitWidth());
}

} // namespace

Term operator+(TermOrNumber x, TermOrNumber y) { return binary("add", x, y); }
Term operator-(TermOrNumber x, TermOrNumber y) { return binary("subtract", x, y); }
Term operator*(TermOrNumber x, TermOrNumber y) { return binary("multiply", x, y); }
Term operator/(TermOrNumber x, TermOrNumber y) { return binary("divide", x, y); }
Term operator-(Term x) { return unary("negate", x); }

using Direction = stablehlo::ComparisonDirection;
Term operator<(TermOrNumber x, TermOrNumber y) { return comparison(Direction::LT, x, y); }
Term operator<=(TermOrNumber x, TermOrNumber y) { return comparison(Direction::LE, x, y); }
Term operator>(TermOrNumber x, TermOrNumber y) { return comparison(Direction::GT, x, y); }
Term operator>=(TermOrNumber x, TermOrNumber y) { return comparison(Direction::GE, x, y); }
Term operator==(TermOrNumber x, TermOrNumber y) { return comparison(Direction::EQ, x, y); }
Term operator!=(TermOrNumber x, TermOrNumber y) { return comparison(Direction::NE, x, y); }

Term operator&(Term x, Term y) { return binary("and", x, y); }
Term operator|(Term x, Term y) { return binary("or", x, y); }

Term select(Term condition, TermOrNumber then, TermOrNumber otherwise) {
  const auto [left, right] = both(then, otherwise);
  return left.formula().write("select", {condition, left, right}, left.element());
}
Term minimum(TermOrNumber x, TermOrNumber y) { return binary("minimum", x, y); }
Term maximum(TermOrNumber x, TermOrNumber y) { return binary("maximum", x, y); }
Term power(TermOrNumber x, TermOrNumber y) { return binary("power", x, y); }
Term atan2(TermOrNumber y, TermOrNumber x) { return binary("atan2", y, x); }

Term abs(Term x) { return unary("abs", x); }
Term sign(Term x) { return unary("sign", x); }
Term floor(Term x) { return unary("floor", x); }
Term roundToEven(Term x) { return unary("round_nearest_even", x); }
Term sqrt(Term x) { return unary("sqrt", x); }
Term exp(Term x) { return unary("exponential", x); }
Term expm1(Term x) { return unary("exponential_minus_one", x); }
Term log(Term x) { return unary("log", x); }
Term log1p(Term x) { return unary("log_plus_one", x); }
Term sin(Term x) { return unary("sine", x); }
Term cos(Term x) { return unary("cosine", x); }
Term tan(Term x) { return unary("tan", x); }

Term complex(Term re, Term im) {
  return re.formula().write("complex", {re, im}, mlir::ComplexType::get(re.element()));
}
Term real(Term x) {
  return x.formula().write("real", {x},
                           llvm::cast<mlir::ComplexType>(x.element()).getElementType());
}
Term imaginary(Term x) {
  return x.formula().write("imag", {x},
                           llvm::cast<mlir::ComplexType>(x.element()).getElementType());
}
Term hypot(Term x, Term y) { return x.formula().write("abs", {complex(x, y)}, x.element()); }

Term convert(Term x, mlir::Type element) {
  return x.element() == element ? x : x.formula().write("convert", {x}, element);
}
Term bitcast(Term x, mlir::Type element) {
  return x.formula().write("bitcast_convert", {x}, element);
}
Term hasSign(Term x) { return bitcast(x, word(x)) < 0.0; }
Term withSign(Term magnitude, Term of) { return select(hasSign(of), -magnitude, magnitude); }
Term shiftLeft(Term x, TermOrNumber bits) { return binary("shift_left", x, bits); }
Term shiftRightLogical(Term x, TermOrNumber bits) { return binary("shift_right_logical", x, bits); }
Term shiftRightArithmetic(Term x, TermOrNumber bits) {
  return binary("shift_right_arithmetic", x, bits);
}
Term isInfinite(Term x) { return abs(x) == std::numeric_limits<double>::infinity(); }

Term polynomial(const Coefficients& coefficients, Term x) {
  const llvm::ArrayRef<double> c = x.isF64() ? coefficients.f64 : coefficients.f32;
  Term sum = x.number(c.back());
  for (const double coefficient : llvm::reverse(c.drop_back()))
    sum = sum * x + coefficient;
  return sum;
}

Term chebyshev(const Coefficients& coefficients, Term x) {
  const llvm::ArrayRef<double> c = x.isF64() ? coefficients.f64 : coefficients.f32;
  const Term twice = x + x;
  Term next = x.number(0.0), sum = x.number(c.back());
  for (const double coefficient : llvm::reverse(c.drop_back().drop_front())) {
    const Term now = twice * sum - next + coefficient;
    next = sum;
    sum = now;
  }
  return x * sum - next + c.front();
}

} // namespace octavo::transforms
