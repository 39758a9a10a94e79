// Hyperbolic functions. Complex ones are trigonometric functions of an argument turned by i.
#include "octavo/Transforms/Legalize/CHLO/Functions.h"

namespace octavo::transforms {

namespace {

/// e^x / 2 near the overflow of e^x, as the square of e^(x/2), whose argument is exact.
Term halfOfExp(Term x) {
  const Term root = exp(0.5 * x);
  return (0.5 * root) * root;
}

/// A bound of x just below the overflow of e^x.
double nearOverflow(Term x) { return x.choose(88.0, 709.0); }

/// iz.
Term quarterTurn(Term z) { return complex(-imaginary(z), real(z)); }

} // namespace

Term cosh(Term x) {
  const Term a = abs(x), e = exp(a);
  return select(a > nearOverflow(a), halfOfExp(a), 0.5 * e + 0.5 / e);
}

Term sinh(Term x) {
  const Term a = abs(x), m = expm1(a);
  return sign(x) * select(a > nearOverflow(a), halfOfExp(a), 0.5 * (m + m / (m + 1.0)));
}

Term complexCosh(Term z) { return cos(quarterTurn(z)); }

Term complexSinh(Term z) {
  const Term turned = sin(quarterTurn(z));
  return complex(imaginary(turned), -real(turned));
}

} // namespace octavo::transforms
