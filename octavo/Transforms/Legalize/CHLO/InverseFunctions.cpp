// Inverse trigonometric and hyperbolic functions of real numbers: on atan2 and log1p, of arguments
// that cancel nothing.
#include "octavo/Transforms/Legalize/CHLO/Functions.h"

#include <numbers>

namespace octavo::transforms {

namespace {

/// From here on, x^2 + 1 and x^2 - 1 round to x^2.
double farOut(Term x) { return 2.0 / x.epsilon(); }

/// log(2 x), which does not overflow.
Term logOfTwice(Term x) { return log(x) + std::numbers::ln2; }

} // namespace

Term acos(Term x) { return 2.0 * atan2(sqrt(1.0 - x), sqrt(1.0 + x)); }

Term asin(Term x) { return atan2(x, sqrt((1.0 - x) * (1.0 + x))); }

Term atan(Term x) { return atan2(x, 1.0); }

Term acosh(Term x) {
  const Term above = x - 1.0;
  return select(x > farOut(x), logOfTwice(x), log1p(above + sqrt(above) * sqrt(x + 1.0)));
}

Term asinh(Term x) {
  const Term a = abs(x), square = a * a;
  const Term near = log1p(a + square / (1.0 + sqrt(1.0 + square)));
  return sign(x) * select(a > farOut(x), logOfTwice(a), near);
}

Term atanh(Term x) {
  const Term a = abs(x);
  return sign(x) * (0.5 * log1p((a + a) / (1.0 - a)));
}

} // namespace octavo::transforms
