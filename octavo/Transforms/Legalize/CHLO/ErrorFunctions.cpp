// The error function, its complement and its inverse.
#include "octavo/Transforms/Legalize/CHLO/Coefficients.h"
#include "octavo/Transforms/Legalize/CHLO/Functions.h"

#include <limits>

namespace octavo::transforms {

namespace {

/// erf for |x| <= 1.
Term erfNearZero(Term x) { return x * polynomial(kErf, x * x); }

/// erfc for x >= 1/2. e^(-x^2) is computed as e^(-r^2) times the exponential of the rest, with r
/// rounded so that r^2 is exact.
Term erfcOfPositive(Term x) {
  const Term a = minimum(x, x.choose(11.0, 28.0)); // beyond, erfc underflows
  const Term rounded = roundToEven(16.0 * a) * 0.0625;
  const Term factor = polynomial(kErfc, (a - 4.0) / (a + 4.0)) / (1.0 + 2.0 * a);
  // The exponentials are not adjacent factors: XLA would merge them into one.
  return exp(-(rounded * rounded)) * factor * exp((rounded - a) * (rounded + a));
}

} // namespace

Term erf(Term x) {
  const Term a = abs(x);
  return select(a <= 1.0, erfNearZero(x), sign(x) * (1.0 - erfcOfPositive(maximum(a, 1.0))));
}

Term erfc(Term x) {
  const Term a = abs(x), tail = erfcOfPositive(maximum(a, 0.5));
  return select(a < 0.5, 1.0 - erfNearZero(x), select(x < 0.0, 2.0 - tail, tail));
}

Term erfInv(Term x) {
  const Term a = abs(x);
  const Term w = -select(a < 0.5, log1p(-(x * x)), log((1.0 - a) * (1.0 + a)));
  const Term root = sqrt(w);
  Term tail = polynomial(kErfInvTail, root - 3.0);
  if (x.isF64())
    tail = select(w > 16.0, polynomial(kErfInvFarTail, root - 5.0), tail);
  const Term factor = select(w > 6.0, tail, polynomial(kErfInvCenter, w - 3.0));
  return x * select(a == 1.0, std::numeric_limits<double>::infinity(), factor);
}

} // namespace octavo::transforms
