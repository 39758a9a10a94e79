// Complex functions that the C++ library lacks, or computes less accurately near zeros and poles
// (rule I1).
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace octavo::numerics {

/// x * i^k. k is an integer from -3 to 3.
template <typename T> std::complex<T> quarterTurns(std::complex<T> x, T k) {
  return k == 0              ? x
         : k == 1 || k == -3 ? std::complex<T>(-x.imag(), x.real())
         : k == -1 || k == 3 ? std::complex<T>(x.imag(), -x.real())
                             : -x;
}

/// e^(y log x). x is split into i^k and a number within 45 degrees of the positive real axis. The
/// whole quarter turns of i^(ky) are exact, so a power near an axis keeps its small part.
template <typename T> std::complex<T> power(std::complex<T> x, std::complex<T> y) {
  if (x == std::complex<T>(0) || !std::isfinite(std::abs(x)))
    return std::pow(x, y);
  const T re = x.real(), im = x.imag();
  const T k = std::abs(re) >= std::abs(im) ? (re > 0             ? 0
                                              : std::signbit(im) ? -2
                                                                 : 2)
                                           : (im > 0 ? 1 : -1);
  const std::complex<T> log = std::log(quarterTurns(x, -k));
  const T quarters = std::remainder(k * y.real(), T(4)), whole = std::nearbyint(quarters);
  constexpr T kQuarter = std::numbers::pi_v<T> / 2;
  const T angle = kQuarter * (quarters - whole) + y.real() * log.imag() + y.imag() * log.real();
  const T modulus = std::exp(y.real() * log.real() - y.imag() * (log.imag() + kQuarter * k));
  return quarterTurns(std::complex<T>(modulus * std::cos(angle), modulus * std::sin(angle)), whole);
}

/// e^x - 1 without cancellation near 0: e^a cos b - 1 is expm1(a) cos b - 2 sin^2(b / 2).
template <typename T> std::complex<T> exponentialMinusOne(std::complex<T> x) {
  const T half = std::sin(x.imag() / 2);
  return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half,
          std::exp(x.real()) * std::sin(x.imag())};
}

/// log(1 + x). log |1 + x| is log1p(a (a + 2) + b^2) / 2, without cancellation if x is small.
template <typename T> std::complex<T> logPlusOne(std::complex<T> x) {
  const T a = x.real(), b = x.imag();
  const T modulus = std::abs(a) < T(0.5) && std::abs(b) < T(0.5)
                        ? std::log1p(a * (a + 2) + b * b) / 2
                        : std::log(std::hypot(a + 1, b));
  return {modulus, std::atan2(b, a + 1)};
}

/// 1 / (1 + e^-x). 1 + e^(a + ib) is expm1(a) cos b + 2 cos^2(b / 2) + i e^a sin b, without
/// cancellation near the poles.
template <typename T> std::complex<T> logistic(std::complex<T> x) {
  const T a = -x.real(), b = -x.imag(), half = std::cos(b / 2);
  const std::complex<T> sum(std::expm1(a) * std::cos(b) + 2 * half * half,
                            std::exp(a) * std::sin(b));
  return std::complex<T>(1) / sum;
}

/// atan2(y, x). With u = x + iy and v = x - iy, u v = x^2 + y^2: the angle is half the difference
/// of their arguments, plus half a turn if the sum of their arguments is not the argument of u v.
template <typename T> std::complex<T> arcTangent(std::complex<T> y, std::complex<T> x) {
  constexpr T kPi = std::numbers::pi_v<T>;
  const T a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  const std::complex<T> u(a - d, b + c), v(a + d, b - c);
  const T first = std::arg(u), second = std::arg(v);
  const T root = std::atan2(2 * (a * b + c * d), (a - b) * (a + b) + (c - d) * (c + d));
  // The argument of u * conj(v) is accurate if both arguments are nearly equal.
  const T half = (first - second) / 2;
  T angle = std::atan2(2 * (a * c + b * d), a * a + b * b - c * c - d * d) / 2;
  if (std::abs(angle - half) > kPi / 2)
    angle += half > 0 ? kPi : -kPi;
  if (std::abs(first + second - root) > kPi)
    angle += angle > 0 ? -kPi : kPi;
  // |u|^2 - |v|^2 is 4 (bc - ad).
  const T ratio = 4 * (b * c - a * d) / std::norm(v);
  return {angle, std::abs(ratio) < T(0.5) ? -std::log1p(ratio) / 4
                                          : (std::log(std::abs(v)) - std::log(std::abs(u))) / 2};
}

template <typename T> std::complex<T> reciprocalRoot(std::complex<T> x) {
  return std::complex<T>(1) / std::sqrt(x);
}

template <typename T> std::complex<T> cubeRoot(std::complex<T> x) {
  return std::polar(std::cbrt(std::abs(x)), std::arg(x) / 3);
}

/// x^2. The real part is (a + b) (a - b), without cancellation; 0 on the diagonals, also if a + b
/// overflows.
template <typename T> std::complex<T> square(std::complex<T> x) {
  const T a = x.real(), b = x.imag();
  const bool isDiagonal = std::abs(a) == std::abs(b) && std::isfinite(a);
  return {isDiagonal ? T(0) : (a - b) * (a + b), 2 * a * b};
}

/// x / |x|; 0 if x is 0, NaN if a part of x is NaN.
template <typename T> std::complex<T> sign(std::complex<T> x) {
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  return x != x                    ? std::complex<T>(kNaN, kNaN)
         : x == std::complex<T>(0) ? std::complex<T>(0, 0)
                                   : x / std::abs(x);
}

} // namespace octavo::numerics
