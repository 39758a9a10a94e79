// Hyperbolic functions. Those of complex numbers are trigonometric ones, a quarter turn away.
#include "octavo/Transforms/Legalize/CHLO/Functions.h"

namespace octavo::transforms {

namespace {

/// e^x / 2 near where e^x overflows: the square of a root, whose argument is exact.
Term halfOfExp(Term x) {
  const Term root = exp(0.5 * x);
  return (0.5 * root) * root;
}

/// e^x is beyond the largest number soon after.
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
