// Evaluates MLIR's math, elementwise (rule I28).
#include "octavo/Interpreter/Mlir/MLIRDialects.h"
#include "octavo/Interpreter/StableHLO/ElementwiseEvaluator.h"
#include "octavo/Interpreter/Tensor/Arithmetic.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace octavo::interpreter {

namespace {

namespace math = mlir::math;

struct Clamp {
  static double real(double x, double low, double high) {
    return Minimum::real(Maximum::real(x, low), high);
  }
};

struct CopySign {
  static double real(double x, double sign) { return std::copysign(x, sign); }
};

struct CountTrailingZeros {
  static std::uint64_t integer(IntegerType type, std::uint64_t x) {
    return static_cast<std::uint64_t>(std::min(std::countr_zero(x), type.width));
  }
};

struct Exp2 {
  static auto real(std::floating_point auto x) { return std::exp2(x); }
};

struct Log10 {
  static auto real(std::floating_point auto x) { return std::log10(x); }
};

struct Log2 {
  static auto real(std::floating_point auto x) { return std::log2(x); }
};

struct Truncate {
  static double real(double x) { return std::trunc(x); }
};

/// x y + z, rounded once to the format of the operands.
struct FusedMultiplyAdd {
  /// For f64: one rounding, by the machine's fma.
  static long double real(long double x, long double y, long double z) {
    return std::fma(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
  }
  /// For f32 and narrower floats, whose product is exact in f64. The sum is rounded to odd: if it
  /// is inexact, to the neighbour whose last bit is set. Rounding that to the format equals one
  /// rounding of the exact sum, because f64 has more than two extra bits.
  static double real(double x, double y, double z) {
    const double product = x * y, sum = product + z;
    if (!std::isfinite(sum))
      return sum;
    const double added = sum - product;
    const double error = (product - (sum - added)) + (z - added);
    const auto bits = std::bit_cast<std::uint64_t>(sum);
    if (error == 0 || (bits & 1) != 0)
      return sum;
    return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
  }
};

template <bool (*Holds)(const ElementFormat&, double)>
llvm::Expected<Results> evaluateClass(mlir::Operation*, const Operands& operands, Evaluation&) {
  const Tensor& x = operands[0].tensor();
  const std::vector<double> values = decodeElements(x);
  Tensor result = Tensor::zeros(kBoolean, x.shape);
  for (std::size_t i = 0; i < values.size(); ++i)
    result.setCode(static_cast<std::int64_t>(i), Holds(x.type.format(), values[i]));
  return Results{Value(std::move(result))};
}

bool isFinite(const ElementFormat&, double x) { return std::isfinite(x); }
bool isInfinite(const ElementFormat&, double x) { return std::isinf(x); }
bool isNan(const ElementFormat&, double x) { return std::isnan(x); }
bool isNormal(const ElementFormat& format, double x) {
  return std::isfinite(x) && std::fabs(x) >= std::ldexp(1.0, format.emin());
}

/// An integer power of a float, in extended precision, which represents every 64-bit exponent.
llvm::Expected<Value> evaluateIntegerPower(math::FPowIOp op, const Operands& operands,
                                           Evaluation&) {
  if (llvm::Error error = requireOneShape(op, operands))
    return std::move(error);
  const Tensor& base = operands[0].tensor();
  const Tensor& exponent = operands[1].tensor();
  std::vector<double> values = decodeElements(base);
  const std::vector<std::uint64_t> powers = decodeIntegers(exponent);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto power = static_cast<std::int64_t>(powers[i]);
    values[i] = static_cast<double>(
        std::pow(static_cast<long double>(values[i]), static_cast<long double>(power)));
  }
  return Value(encodeElements(base.type.format(), base.shape, std::span<const double>(values)));
}

llvm::Expected<Results> evaluateSineAndCosine(mlir::Operation* op, const Operands& operands,
                                              Evaluation& evaluation) {
  llvm::Expected<Results> sine = evaluateUnary<Sine>(op, operands, evaluation);
  if (!sine)
    return sine;
  llvm::Expected<Results> cosine = evaluateUnary<Cosine>(op, operands, evaluation);
  if (!cosine)
    return cosine;
  sine->push_back(std::move(cosine->front()));
  return sine;
}

} // namespace

void registerMath(EvaluatorTable& table) {
  table.add("math.absf", evaluateUnary<Abs>);
  table.add("math.absi", evaluateUnary<Abs>);
  table.add("math.acos", evaluateUnary<Acos>);
  table.add("math.acosh", evaluateUnary<Acosh>);
  table.add("math.asin", evaluateUnary<Asin>);
  table.add("math.asinh", evaluateUnary<Asinh>);
  table.add("math.atan", evaluateUnary<Atan>);
  table.add("math.atan2", evaluateBinary<Atan2>);
  table.add("math.atanh", evaluateUnary<Atanh>);
  table.add("math.cbrt", evaluateUnary<Cbrt>);
  table.add("math.ceil", evaluateUnary<Ceil>);
  table.add("math.clampf", evaluateElementwise<Clamp, 3>);
  table.add("math.copysign", evaluateBinary<CopySign>);
  table.add("math.cos", evaluateUnary<Cosine>);
  table.add("math.cosh", evaluateUnary<Cosh>);
  table.add("math.ctlz", evaluateUnary<CountLeadingZeros>);
  table.add("math.ctpop", evaluateUnary<PopulationCount>);
  table.add("math.cttz", evaluateUnary<CountTrailingZeros>);
  table.add("math.erf", evaluateUnary<Erf>);
  table.add("math.erfc", evaluateUnary<Erfc>);
  table.add("math.exp", evaluateUnary<Exponential>);
  table.add("math.exp2", evaluateUnary<Exp2>);
  table.add("math.expm1", evaluateUnary<ExponentialMinusOne>);
  table.add("math.floor", evaluateUnary<Floor>);
  table.add("math.fma", evaluateElementwise<FusedMultiplyAdd, 3>);
  table.add("math.ipowi", evaluateBinary<Power>);
  table.add("math.isfinite", evaluateClass<isFinite>);
  table.add("math.isinf", evaluateClass<isInfinite>);
  table.add("math.isnan", evaluateClass<isNan>);
  table.add("math.isnormal", evaluateClass<isNormal>);
  table.add("math.log", evaluateUnary<Log>);
  table.add("math.log10", evaluateUnary<Log10>);
  table.add("math.log1p", evaluateUnary<LogPlusOne>);
  table.add("math.log2", evaluateUnary<Log2>);
  table.add("math.powf", evaluateBinary<Power>);
  table.add("math.round", evaluateUnary<RoundAwayFromZero>);
  table.add("math.roundeven", evaluateUnary<RoundToEven>);
  table.add("math.rsqrt", evaluateUnary<Rsqrt>);
  table.add("math.sin", evaluateUnary<Sine>);
  table.add("math.sincos", evaluateSineAndCosine);
  table.add("math.sinh", evaluateUnary<Sinh>);
  table.add("math.sqrt", evaluateUnary<Sqrt>);
  table.add("math.tan", evaluateUnary<Tan>);
  table.add("math.tanh", evaluateUnary<Tanh>);
  table.add("math.trunc", evaluateUnary<Truncate>);
  table.add<evaluateIntegerPower>();
}

} // namespace octavo::interpreter
