#include "octavo/Interpreter/Tensor/SpecialFunctions.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <ranges>

namespace octavo::interpreter {

long double inverseErf(long double x) {
  const long double magnitude = std::fabs(x);
  if (!(magnitude < 1.0))
    return magnitude == 1.0 ? std::copysign(std::numeric_limits<long double>::infinity(), x)
                            : std::numeric_limits<long double>::quiet_NaN();
  if (x == 0.0)
    return x;
  // Winitzki's approximation (2008), refined by Halley's method. Beyond 1/2 it uses erfc, whose
  // relative error stays small where erf is near 1.
  constexpr double kA = 0.147;
  const long double log = std::log1p(-magnitude * magnitude);
  const long double half = 2.0 / (std::numbers::pi_v<long double> * kA) + log / 2.0;
  long double y = std::sqrt(std::sqrt(half * half - log / kA) - half);
  const long double rest = 1.0 - magnitude;
  for (int step = 0; step < 4; ++step) {
    const long double error = magnitude < 0.5 ? std::erf(y) - magnitude : rest - std::erfc(y);
    const long double slope = 2.0 * std::numbers::inv_sqrtpi_v<long double> * std::exp(-y * y);
    if (slope == 0.0)
      break;
    const long double newton = error / slope;
    y -= newton / (1.0 + y * newton);
  }
  return std::copysign(y, x);
}

namespace {

/// digamma near its positive zero, by a Taylor series: the distance from the zero keeps its
/// relative precision, which a difference of sums would lose.
long double digammaNearZero(long double distance) {
  constexpr long double kCoefficients[] = {
      0.967672245447621170427445L,   -0.442763168983592106092865L,  0.258499760955651010624401L,
      -0.163942705442406527504251L,  0.107824050691262365757183L,   -0.0721995612564547109261218L,
      0.0488042881641431072250925L,  -0.0331611264748473592922584L, 0.0225976482322181046596248L,
      -0.0154247659049489591388003L,
  };
  long double sum = 0.0L;
  for (long double coefficient : std::views::reverse(kCoefficients))
    sum = (sum + coefficient) * distance;
  return sum;
}

} // namespace

long double digamma(long double x) {
  if (x == -std::numeric_limits<long double>::infinity() || (x <= 0.0 && x == std::floor(x)))
    return std::numeric_limits<long double>::quiet_NaN();
  if (x < 0.0) {
    // Reflection formula; the argument of the tangent is reduced first.
    const long double fraction = x - std::nearbyint(x);
    return digamma(1.0 - x) -
           std::numbers::pi_v<long double> / std::tan(std::numbers::pi_v<long double> * fraction);
  }
  constexpr long double kZero = 0x1.762d86356be3fp+0L, kZeroRest = 9.549995429965697715184e-17L;
  if (const long double distance = (x - kZero) - kZeroRest; std::fabs(distance) < 0.01L)
    return digammaNearZero(distance);
  // The recurrence moves x to where the asymptotic series (Abramowitz and Stegun, 6.3.18) is
  // accurate.
  long double sum = 0.0L;
  for (; x < 16.0L; x += 1.0L)
    sum -= 1.0L / x;
  const long double square = 1.0L / (x * x);
  long double series = 0.0L;
  for (long double coefficient :
       {1.0L / 12, 691.0L / 32760, 1.0L / 132, 1.0L / 240, 1.0L / 252, 1.0L / 120, 1.0L / 12})
    series = square * (coefficient - series);
  return sum + std::log(x) - 0.5 / x - series;
}

long double logGamma(long double x) {
  int sign = 0; // std::lgamma would write the sign to a global
  return ::lgammal_r(x, &sign);
}

namespace {

constexpr long double kInf = std::numeric_limits<long double>::infinity();
constexpr long double kNaN = std::numeric_limits<long double>::quiet_NaN();

/// Hurwitz's zeta function for x > 1 and q > 0: sums terms until the Euler-Maclaurin formula (DLMF
/// 25.11.5) is accurate. All terms have one sign, except the last, small ones of that formula.
long double zetaOfPositive(long double x, long double q) {
  if (std::isinf(x) || std::isinf(q))
    return q < 1.0L ? kInf : q == 1.0L ? 1.0L : 0.0L;
  constexpr long double kNegligible = 0x1p-70L;
  long double sum = 0.0L;
  for (; q < 20.0L || q < x; q += 1.0L) {
    const long double term = std::pow(q, -x);
    sum += term;
    // The rest of the sum is less than the integral.
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
  // The terms with negative base are those of f, f + 1, ... up to -q, with the sign (-1)^x.
  const long double f = -q - std::floor(-q);
  const long double below = zetaOfPositive(x, f) - zetaOfPositive(x, 1.0L - q);
  return isEven ? zetaOfPositive(x, 1.0L - f) + below : zetaOfPositive(x, 1.0L - f) - below;
}

/// log(zeta(x, q)) where zeta underflows long double, q > 0 and x is large. Multiplied by the gamma
/// function of x, it is above e^-745 only for q below x / 1.7, where the terms decrease quickly.
long double logZetaOfLarge(long double x, long double q) {
  if (q > x)
    return -std::numeric_limits<long double>::infinity();
  long double sum = 1.0L;
  for (long double k = 1.0L, term = 1.0L; term > sum * 0x1p-70L; k += 1.0L)
    sum += term = std::exp(-x * std::log1p(k / q));
  return std::log(sum) - x * std::log(q);
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
  if (n > 1700.0) // factorials overflow long double
    magnitude =
        sum == 0.0L
            ? std::exp(std::lgamma(n + 1.0L) + logZetaOfLarge(n + 1.0L, x))
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
    // Hankel's expansion (DLMF 10.40.1); the terms left out are of the order of exp(-2 |x|).
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

} // namespace octavo::interpreter
