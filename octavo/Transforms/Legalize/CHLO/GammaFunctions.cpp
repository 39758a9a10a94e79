// lgamma and digamma. Between 1 and 3 both are polynomials; their recurrences extend these up to 8.
// From there on they are Stirling's series (Abramowitz and Stegun, 6.1.41 and 6.3.18). Negative
// arguments are reflected (6.1.17, 6.3.7).
#include "octavo/Transforms/Legalize/CHLO/Coefficients.h"
#include "octavo/Transforms/Legalize/CHLO/Functions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace octavo::transforms {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kSeriesFrom = 8.0; ///< the truncation is below one ulp

Term isPole(Term x) { return (x <= 0.0) & (floor(x) == x); }

/// B(2k) / (2k (2k - 1)), of which f32 needs three.
constexpr double kStirling64[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                  1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
constexpr Coefficients kStirling{llvm::ArrayRef(kStirling64, 3), kStirling64};

/// B(2k) / 2k.
constexpr double kDigammaSeries64[] = {1.0 / 12,   -1.0 / 120,     1.0 / 252,
                                       -1.0 / 240, 1.0 / 132,      -691.0 / 32760,
                                       1.0 / 12,   -3617.0 / 8160, 43867.0 / 14364};
constexpr Coefficients kDigammaSeries{llvm::ArrayRef(kDigammaSeries64, 4), kDigammaSeries64};

} // namespace

Term lgamma(Term x) {
  const Term a = abs(x);
  const Term isSmall = a < 0.5; // uses lgamma(1 + a) - log a
  const Term minusLogOfSmall = select(isSmall, -log(a), 0.0);
  const Term fromOne = select(isSmall, a, a - 1.0);

  Term z = a, product = x.number(1.0);
  for (double limit = kSeriesFrom; limit > 3.0; limit -= 1.0) {
    const Term isAbove = z >= 3.0;
    z = select(isAbove, z - 1.0, z);
    product = select(isAbove, product * z, product);
  }
  const Term fromTwo = z - 2.0;

  const double constant = 0.5 * std::log(2.0 * kPi) - 0.5;
  const Term inverse = 1.0 / a;
  const Term stirling =
      (a - 0.5) * (log(a) - 1.0) + constant + polynomial(kStirling, inverse * inverse) * inverse;

  // lgamma(a); lgamma(1 + a) if a < 1/2.
  const Term base =
      select(a < 1.5, fromOne * polynomial(kLgammaFrom1, fromOne),
             select(a < kSeriesFrom, log(product) + fromTwo * polynomial(kLgammaFrom2, fromTwo),
                    stirling));

  // lgamma(-a) + lgamma(1 + a) = log(pi / |sin(pi a)|).
  const Term rest = a - floor(a), fraction = minimum(rest, 1.0 - rest);
  const Term logOfA = select(isSmall, 0.0, log(a));
  const Term reflected = -log(sin(kPi * fraction) / kPi) - base - logOfA;
  return select(isPole(x), std::numeric_limits<double>::infinity(),
                select(x < 0.0, reflected, base + minusLogOfSmall));
}

Term digamma(Term x) {
  const Term a = abs(x), inverse = 1.0 / a;
  const Term isSmall = a < 1.0; // uses digamma(1 + a) - 1 / a

  Term z = a, sum = x.number(0.0);
  for (double limit = kSeriesFrom; limit > 3.0; limit -= 1.0) {
    const Term isAbove = z >= 3.0;
    z = select(isAbove, z - 1.0, z);
    sum = select(isAbove, sum + 1.0 / z, sum);
  }
  // The distance from the zero keeps its relative precision, even if XLA folds constants together.
  const Term fromOne = select(isSmall, a, z - 1.0);
  const double zero = kDigammaZero - 1.0;
  const double high = x.isF64() ? zero : static_cast<float>(zero);
  const Term slope = polynomial(kDigamma, fromOne - 1.0);
  const Term nearZero = (fromOne - high) * slope - (zero - high + kDigammaZeroRest) * slope;

  const Term square = inverse * inverse;
  const Term series = log(a) - 0.5 * inverse - square * polynomial(kDigammaSeries, square);
  // digamma(a); digamma(1 + a) if a < 1.
  const Term base = select(a < kSeriesFrom, nearZero + sum, series);

  // digamma(-a) = digamma(1 + a) + pi cot(pi a).
  const Term next = select(isSmall, base, base + inverse);
  const Term reflected = next + kPi / tan(kPi * (a - roundToEven(a)));
  return select(isPole(x), std::numeric_limits<double>::quiet_NaN(),
                select(x < 0.0, reflected, select(isSmall, base - inverse, base)));
}

} // namespace octavo::transforms
