// Inverse trigonometric and hyperbolic functions of complex numbers, after Hull, Fairgrieve and
// Tang (ACM TOMS 23, 1997) and Kahan (1987): each part from sums of positive numbers, so that
// nothing cancels. The sign of a zero says on which side of a branch cut the argument lies.
#include "octavo/Transforms/Legalize/CHLO/Functions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace octavo::transforms {

namespace {

/// The parts of asin and acos of x + iy for x, y >= 0: the angle of asin is that of the point
/// (height, x), of acos that of (x, height); the imaginary part of asin is log.
struct Arcs {
  Arcs(Term x, Term y) : height(x), log(x) {
    const Term large = maximum(x, y), small = minimum(x, y);
    const Term r = hypot(x + 1.0, y), s = hypot(x - 1.0, y), a = 0.5 * r + 0.5 * s;
    const Term right = r + (x + 1.0);
    const Term isInside = x <= 1.0;
    // s - |x - 1| is y^2 / left.
    const Term left = s + abs(x - 1.0);

    const Term inside = sqrt(0.5 * (a + x) * (y * y / right + left));
    const Term outside = y * sqrt(0.5 * ((a + x) / right + (a + x) / left));

    // log(a + sqrt(a^2 - 1)), of a - 1 = rise.
    const Term slope = 0.5 * (1.0 / right + 1.0 / left);
    const Term rise = 0.5 * (y * y / right + left);
    const Term logInside = log1p(y * (y * slope) + y * sqrt(slope * (a + 1.0)));
    const Term logOutside = log1p(rise + sqrt(rise * (a + 1.0)));

    // Where both squares could overflow, 1 is negligible.
    const Term isFar = large > std::ldexp(1.0, x.isF64() ? 500 : 60);
    const Term ratio = small / large;
    const Term logFar =
        select((x == kInfinity) | (y == kInfinity), kInfinity,
               transforms::log(large) + std::numbers::ln2 + 0.5 * log1p(ratio * ratio));
    height = select(isFar, y, select(isInside, inside, outside));
    log = select(isFar | (x == kInfinity) | (y == kInfinity), logFar,
                 select(x < 1.0, logInside, logOutside));
  }
  Term height, log;
};

struct Parts {
  explicit Parts(Term z) : re(real(z)), im(imaginary(z)) {}
  Term re, im;
};

/// atanh(x + iy), as its parts.
std::pair<Term, Term> atanhOf(Term re, Term im) {
  const Term x = abs(re), y = abs(im);
  const Term distance = hypot(0.5 * (1.0 - x), 0.5 * y); // half the distance from the pole
  const Term near = 0.25 * log1p(x / distance * (1.0 / distance));
  // Where 1 / distance^2 would overflow, x rounds to 1.
  const Term atPole = 0.5 * (std::numbers::ln2 - log(y));
  const Term isInfinite = (x == kInfinity) | (y == kInfinity);
  const Term modulus = select(
      isInfinite, 0.0, select(distance < std::ldexp(1.0, x.isF64() ? -500 : -60), atPole, near));
  // Far out the angle is a quarter turn.
  const Term isFar = (maximum(x, y) > 8.0 / x.epsilon()) | (y == kInfinity);
  const Term angle =
      select(isFar, std::numbers::pi / 2, 0.5 * atan2(y + y, (1.0 - x) * (1.0 + x) - y * y));
  return {withSign(modulus, re), withSign(angle, im)};
}

} // namespace

Term complexAsin(Term z) {
  const Parts parts(z);
  const Arcs arcs(abs(parts.re), abs(parts.im));
  return complex(atan2(parts.re, arcs.height), withSign(arcs.log, parts.im));
}

Term complexAcos(Term z) {
  const Parts parts(z);
  const Arcs arcs(abs(parts.re), abs(parts.im));
  return complex(atan2(arcs.height, parts.re), withSign(arcs.log, -parts.im));
}

Term complexAcosh(Term z) {
  const Parts parts(z);
  const Arcs arcs(abs(parts.re), abs(parts.im));
  return complex(arcs.log, withSign(atan2(arcs.height, parts.re), parts.im));
}

/// i asin(-iz).
Term complexAsinh(Term z) {
  const Parts parts(z);
  const Arcs arcs(abs(parts.im), abs(parts.re));
  return complex(withSign(arcs.log, parts.re), atan2(parts.im, arcs.height));
}

Term complexAtanh(Term z) {
  const Parts parts(z);
  const auto [re, im] = atanhOf(parts.re, parts.im);
  return complex(re, im);
}

/// i atanh(-iz).
Term complexAtan(Term z) {
  const Parts parts(z);
  const auto [re, im] = atanhOf(parts.im, parts.re);
  return complex(im, re);
}

} // namespace octavo::transforms
