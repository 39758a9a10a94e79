// Parts of the Fourier transform: its working precision and its roots of unity (rule I22).
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <type_traits>
#include <vector>

namespace octavo::numerics {

/// The type that a transform computes in: f64 for parts in f32, long double for parts in f64.
template <typename Part>
using TransformedIn = std::conditional_t<std::is_same_v<Part, float>, double, long double>;

/// e^(-2 pi i k / n) for k = 0 .. n - 1; the conjugates if `isInverse`.
template <typename Real>
std::vector<std::complex<Real>> rootsOfUnity(std::int64_t n, bool isInverse) {
  const Real sign = isInverse ? Real(1) : Real(-1);
  std::vector<std::complex<Real>> roots;
  roots.reserve(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    // The angle is reduced to an eighth of the circle, so that quarters are exact.
    const std::int64_t octant = 8 * k / n;
    const std::int64_t quarter = (octant + 1) / 2;
    const Real angle = 2 * std::numbers::pi_v<Real> * static_cast<Real>(4 * k - quarter * n) /
                       static_cast<Real>(4 * n);
    const Real c = std::cos(angle), s = std::sin(angle);
    const Real cosines[] = {c, -s, -c, s}, sines[] = {s, c, -s, -c};
    roots.emplace_back(cosines[quarter % 4], sign * sines[quarter % 4]);
  }
  return roots;
}

/// The smallest prime factor of n; n if n < 4 or n is prime.
inline std::int64_t smallestFactor(std::int64_t n) {
  for (std::int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0)
      return p;
  return n;
}

} // namespace octavo::numerics
