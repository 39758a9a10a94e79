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

namespace {

constexpr long double kInf = std::numeric_limits<long double>::infinity();
constexpr long double kNaN = std::numeric_limits<long double>::quiet_NaN();

/// Hurwitz's zeta function for x > 1 and q > 0: terms until Euler and Maclaurin's formula holds
/// (DLMF 25.11.5), all of one sign but for that formula's small last ones.
long double zetaOfPositive(long double x, long double q) {
  if (std::isinf(x) || std::isinf(q))
    return q < 1.0L ? kInf : q == 1.0L ? 1.0L : 0.0L;
  constexpr long double kNegligible = 0x1p-70L;
  long double sum = 0.0L;
  for (; q < 20.0L || q < x; q += 1.0L) {
    const long double term = std::pow(q, -x);
    sum += term;
    // What follows is less than the integral.
    if (std::isinf(sum) || term * (1.0L + q / (x - 1.0L)) <= sum * kNegligible)
      return sum;
  }
  const long double power = std::pow(q, -x);
  sum += power * q / (x - 1.0L) + 0.5L * power;
  // B(2k) / (2k)!
  constexpr long double kCoefficients[] = {1.0L / 12,
                                           -1.0L / 720,
                                           1.0L / 30240,
                                           -1.0L / 1209600,
                                           1.0L / 47900160,
                                           -691.0L / 1307674368000,
                                           1.0L / 74724249600,
                                           -3617.0L / 10670622842880000,
                                           43867.0L / 5109094217170944000,
                                           -174611.0L / 802857662698291200000.0L,
                                           77683.0L / 14101100039391805440000.0L,
                                           -236364091.0L / 1693824136731743669452800000.0L};
  long double factor = x * power / q;
  for (int k = 0; k < 12; ++k) {
    const long double term = kCoefficients[k] * factor;
    sum += term;
    if (std::fabs(term) <= sum * kNegligible)
      break;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2) / (q * q);
  }
  return sum;
}

long double zetaOf(double x, double q) {
  if (x != x || q != q || x < 1.0)
    return kNaN;
  if (x == 1.0)
    return kInf;
  if (q > 0.0)
    return zetaOfPositive(x, q);
  const bool isEven = std::fmod(x, 2.0) == 0.0;
  if (q == std::floor(q))
    return isEven ? kInf : kNaN;
  if (x != std::floor(x) || std::isinf(x))
    return kNaN;
  // The terms below zero are those of f, f + 1, ... up to -q, of the sign of (-1)^x.
  const long double f = -q - std::floor(-q);
  const long double below = zetaOfPositive(x, f) - zetaOfPositive(x, 1.0L - q);
  return isEven ? zetaOfPositive(x, 1.0L - f) + below : zetaOfPositive(x, 1.0L - f) - below;
}

} // namespace

double zeta(double x, double q) { return static_cast<double>(zetaOf(x, q)); }

double polygamma(double n, double x) {
  if (n == 0.0)
    return digamma(x);
  if (!(n > 0.0) || n != std::floor(n) || std::isinf(n))
    return std::numeric_limits<double>::quiet_NaN();
  const long double sum = zetaOf(n + 1.0, x);
  long double magnitude = std::tgamma(n + 1.0L) * sum;
  if (n > 1700.0) // beyond the factorials of long double
    magnitude =
        sum == 0.0L
            ? 0.0L
            : std::copysign(std::exp(std::lgamma(n + 1.0L) + std::log(std::fabs(sum))), sum);
  return static_cast<double>(std::fmod(n, 2.0) == 0.0 ? -magnitude : magnitude);
}

double besselI1e(double x) {
  const long double magnitude = std::fabs(x);
  if (!(magnitude <= std::numeric_limits<double>::max()))
    return x != x ? x : std::copysign(0.0, x);
  long double result = 0.0L;
  if (magnitude < 40.0L) {
    // The power series (DLMF 10.25.2), whose terms are all positive.
    const long double square = magnitude * magnitude / 4.0L;
    long double term = magnitude / 2.0L;
    for (int k = 1; term > result * 0x1p-70L; ++k) {
      result += term;
      term *= square / (static_cast<long double>(k) * (k + 1));
    }
    result *= std::exp(-magnitude);
  } else {
    // Hankel's expansion (DLMF 10.40.1); what it leaves out is of the order of exp(-2 |x|).
    long double term = 1.0L;
    for (int k = 1; std::fabs(term) > 0x1p-70L; ++k) {
      result += term;
      const long double odd = 2 * k - 1;
      term *= -(4.0L - odd * odd) / (8.0L * k * magnitude);
    }
    result /= std::sqrt(2.0L * std::numbers::pi_v<long double> * magnitude);
  }
  return static_cast<double>(std::copysign(result, static_cast<long double>(x)));
}

} // namespace octavo::reference
