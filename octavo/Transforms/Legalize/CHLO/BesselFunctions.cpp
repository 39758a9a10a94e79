// Bessel functions.
#include "octavo/Transforms/Legalize/CHLO/Coefficients.h"
#include "octavo/Transforms/Legalize/CHLO/Functions.h"

namespace octavo::transforms {

Term besselI1e(Term x) {
  const Term a = abs(x), large = maximum(a, 8.0);
  const Term near = x * (chebyshev(kI1eNear, 0.25 * minimum(a, 8.0) - 1.0) / (1.0 + a));
  const Term far = sign(x) * (chebyshev(kI1eFar, 16.0 / large - 1.0) / sqrt(large));
  return select(a <= 8.0, near, far);
}

} // namespace octavo::transforms
