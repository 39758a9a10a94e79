#include "octavo/Reference/SpecialFunctions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace octavo::reference {

double inverseErf(double x) {
  const double magnitude = std::fabs(x);
  if (!(magnitude < 1.0))
    return magnitude == 1.0 ? std::copysign(std::numeric_limits<double>::infinity(), x)
                            : std::numeric_limits<double>::quiet_NaN();
  if (x == 0.0)
    return x;
  // Winitzki's approximation (2008), made exact by Halley's steps; beyond 1/2 on erfc, whose
  // relative error stays small where erf is near 1.
  constexpr double kA = 0.147;
  const double log = std::log1p(-magnitude * magnitude);
  const double half = 2.0 / (std::numbers::pi * kA) + log / 2.0;
  double y = std::sqrt(std::sqrt(half * half - log / kA) - half);
  const double rest = 1.0 - magnitude;
  for (int step = 0; step < 4; ++step) {
    const double error = magnitude < 0.5 ? std::erf(y) - magnitude : rest - std::erfc(y);
    const double slope = 2.0 * std::numbers::inv_sqrtpi * std::exp(-y * y);
    if (slope == 0.0)
      break;
    const double newton = error / slope;
    y -= newton / (1.0 + y * newton);
  }
  return std::copysign(y, x);
}

double digamma(double x) {
  if (x == -std::numeric_limits<double>::infinity() || (x <= 0.0 && x == std::floor(x)))
    return std::numeric_limits<double>::quiet_NaN();
  if (x < 0.0) {
    // Reflection; the tangent's argument is reduced first.
    const double fraction = x - std::nearbyint(x);
    return digamma(1.0 - x) - std::numbers::pi / std::tan(std::numbers::pi * fraction);
  }
  // The recurrence carries x to where the asymptotic series (Abramowitz and Stegun, 6.3.18) holds.
  double sum = 0.0;
  for (; x < 16.0; x += 1.0)
    sum -= 1.0 / x;
  const double square = 1.0 / (x * x);
  const double series =
      square *
      (1.0 / 12 -
       square * (1.0 / 120 -
                 square * (1.0 / 252 -
                           square * (1.0 / 240 - square * (1.0 / 132 - square * 691.0 / 32760)))));
  return sum + std::log(x) - 0.5 / x - series;
}

double logGamma(double x) {
  int sign = 0; // std::lgamma would write it to a global.
  return ::lgamma_r(x, &sign);
}

} // namespace octavo::reference
