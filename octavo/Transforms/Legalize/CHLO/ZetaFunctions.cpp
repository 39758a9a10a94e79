// Hurwitz's zeta function and the derivatives of digamma, which are multiples of it.
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Transforms/Legalize/CHLO/Functions.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace octavo::transforms {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// B(2k) / (2k)!, of which f32 needs six.
constexpr double kEulerMaclaurin[] = {1.0 / 12,
                                      -1.0 / 720,
                                      1.0 / 30240,
                                      -1.0 / 1209600,
                                      1.0 / 47900160,
                                      -691.0 / 1307674368000,
                                      1.0 / 74724249600,
                                      -3617.0 / 10670622842880000,
                                      43867.0 / 5109094217170944000,
                                      -174611.0 / 802857662698291200000.0,
                                      77683.0 / 14101100039391805440000.0,
                                      -236364091.0 / 1693824136731743669452800000.0};

/// (scale (q + k))^e, corrected for the rounding error of q + k, which e would amplify.
Term powerOfSum(Term q, double k, Term scale, Term e) {
  const Term sum = q + k;
  const Term result = power(sum * scale, e);
  if (k == 0.0)
    return result;
  const Term part = sum - q;
  const Term left = (q - (sum - part)) + (k - part);
  return result + result * (e * (left / sum));
}

/// The sum of (scale (q + k))^-s over k >= 0, for finite s > 1 and q > 0: some terms, and the
/// Euler-Maclaurin formula for the rest (DLMF 25.11.5). scale is a power of two.
Term sumOfPowers(Term s, Term q, Term scale) {
  const int terms = s.isF64() ? 10 : 8, corrections = s.isF64() ? 12 : 6;
  const Term a = q + terms, inverse = 1.0 / a;
  const Term last = powerOfSum(q, terms, scale, -s);
  Term factor = s * last * inverse, tail = s.number(0.0);
  for (int k = 0; k < corrections; ++k) {
    tail = tail + kEulerMaclaurin[k] * factor;
    if (k + 1 < corrections)
      factor = factor * ((s + (2 * k + 1)) * inverse) * ((s + (2 * k + 2)) * inverse);
  }
  // If s is large beside a, the formula does not hold, but its terms are negligible.
  tail = select(s < 16.0 * a, tail + 0.5 * last, 0.0);
  Term sum = tail + powerOfSum(q, terms, scale, 1.0 - s) / (s - 1.0) / scale;
  for (int k = terms - 1; k >= 0; --k)
    sum = sum + powerOfSum(q, k, scale, -s);
  return sum;
}

Term isInteger(Term x) { return floor(x) == x; }
Term isEven(Term x) { return isInteger(0.5 * x) & (x < kInfinity); }

/// For negative non-integer q: the distances to the integers below and above it.
struct Fractions {
  explicit Fractions(Term q) : above(-q - floor(-q)), below(1.0 - above) {}
  Term above, below;
};

/// The sum of (scale (q + k))^-s over k >= 0, for s > 1 and q not a pole. For negative q, s is an
/// integer: the terms below zero are those of the fraction up to -q, times (-1)^s.
Term hurwitz(Term s, Term q, Term scale) {
  const Term isNegative = q < 0.0;
  const Fractions fractions(q);
  const Term first = sumOfPowers(s, select(isNegative, fractions.below, q), scale);
  const Term below = sumOfPowers(s, select(isNegative, fractions.above, 1.0), scale) -
                     sumOfPowers(s, select(isNegative, 1.0 - q, 1.0), scale);
  return select(isNegative, select(isEven(s), first + below, first - below), first);
}

/// Clamps to the largest number, since sums take finite numbers.
Term withoutInfinity(Term x) { return minimum(x, x.largest()); }

/// The value at the poles, for even and odd order.
Term atPoles(Term s) { return select(isEven(s), s.number(kInfinity), kNaN); }

/// n! for n up to 170 as m 2^e with 1/2 <= m < 1.
struct Factorials {
  static constexpr int kCount = 171;
  Factorials() {
    long double factorial = 1.0L;
    for (int n = 0; n < kCount; ++n) {
      factorial *= std::max(n, 1);
      int exponent = 0;
      significands.push_back(static_cast<double>(std::frexp(factorial, &exponent)));
      exponents.push_back(exponent);
    }
  }
  std::vector<double> significands, exponents;
};

/// Element `index` of a list; `index` is an integer within its range.
Term lookUp(const std::vector<double>& list, Term index) {
  Formula& formula = index.formula();
  mlir::OpBuilder& builder = formula.builder;
  const Term place = convert(index, builder.getI32Type());
  const auto type =
      mlir::RankedTensorType::get({static_cast<std::int64_t>(list.size())}, index.element());
  llvm::SmallVector<mlir::Attribute> numbers;
  for (const double number : list)
    numbers.push_back(builder.getFloatAttr(index.element(), number));
  const mlir::Value table = stablehlo::ConstantOp::create(
      builder, formula.at, mlir::DenseElementsAttr::get(type, numbers));
  const mlir::RankedTensorType result = formula.type(index.element());
  const auto dimensions = stablehlo::GatherDimensionNumbersAttr::get(
      builder.getContext(), /*offsetDims=*/{}, /*collapsedSliceDims=*/{0},
      /*operandBatchingDims=*/{}, /*startIndicesBatchingDims=*/{}, /*startIndexMap=*/{0},
      /*indexVectorDim=*/result.getRank());
  return {formula, stablehlo::GatherOp::create(builder, formula.at, result, table, place.value(),
                                               dimensions, builder.getDenseI64ArrayAttr({1}),
                                               /*indices_are_sorted=*/false)};
}

/// The layout of f32 or f64.
struct Fields {
  explicit Fields(Term x)
      : trailing(x.isF64() ? 52 : 23), bias(x.isF64() ? 1023 : 127),
        word(x.formula().builder.getIntegerType(x.isF64() ? 64 : 32)) {}
  int trailing, bias;
  mlir::Type word;
};

/// The exponent e of a positive number, 2^e <= x < 2^(e + 1); larger for subnormals.
Term exponentOf(Term x) {
  const Fields fields(x);
  const Term biased = shiftRightLogical(bitcast(x, fields.word), fields.trailing);
  return convert(biased, x.element()) - fields.bias;
}

/// 2^e, for the exponent e of a normal number.
Term powerOfTwo(Term e) {
  const Fields fields(e);
  return bitcast(shiftLeft(convert(e + fields.bias, fields.word), fields.trailing), e.element());
}

/// x 2^e, in three steps that by themselves stay in range.
Term scaled(Term x, Term e) {
  const double limit = x.choose(360.0, 3000.0);
  const Term all = maximum(minimum(e, limit), -limit);
  const Term first = floor(all / 3.0), second = floor((all - first) * 0.5);
  return x * powerOfTwo(first) * powerOfTwo(second) * powerOfTwo(all - first - second);
}

} // namespace

Term zeta(Term x, Term q) {
  const Term s = withoutInfinity(x);
  const Term sum = hurwitz(s, withoutInfinity(q), s.number(1.0));
  const Term ofNegative =
      select(isInteger(q), atPoles(x), select(isInteger(x) & (x < kInfinity), sum, kNaN));
  const Term ofLarge = select(q == kInfinity, select(x > 1.0, 0.0, sum), sum);
  const Term result = select(q <= 0.0, ofNegative, ofLarge);
  const Term isNaN = (x != x) | (q != q) | (x < 1.0);
  return select(isNaN, kNaN, select(x == 1.0, kInfinity, result));
}

Term polygamma(Term n, Term x) {
  // The largest term is x^-s. The sum is taken relative to it, so that nothing leaves the range
  // before the factor n!.
  const Term s = n + 1.0;
  const Fractions fractions(x);
  const Term nearest =
      withoutInfinity(select(x < 0.0, minimum(fractions.above, fractions.below), x));
  const Term isListed = n < Factorials::kCount;
  const Term exponent = exponentOf(minimum(nearest, 0.25 * x.largest()) * (4.0 / 3.0));
  const Term scale = select(isListed, powerOfTwo(-exponent), 1.0 / nearest);
  const Term sum = hurwitz(withoutInfinity(s), withoutInfinity(x), scale);

  const Factorials factorials;
  const Term place = minimum(maximum(n, 0.0), Factorials::kCount - 1);
  const Term listed = scaled(lookUp(factorials.significands, place) * sum,
                             lookUp(factorials.exponents, place) - exponent * s);
  const Term order = minimum(s, std::ldexp(1.0, 100)); // keeps infinities from cancelling
  const Term others = sign(sum) * exp(lgamma(order) - order * log(nearest) + log(abs(sum)));
  const Term finite = select(isListed, listed, others);

  const Term isPole = (x <= 0.0) & isInteger(x);
  const Term magnitude = select(isPole, atPoles(s), select(x == kInfinity, 0.0, finite));
  const Term signedOne = select(isEven(n), -magnitude, magnitude);
  const Term isOrder = (n > 0.0) & (n < kInfinity) & isInteger(n);
  return select(n == 0.0, digamma(x), select(isOrder & (x == x), signedOne, kNaN));
}

} // namespace octavo::transforms
