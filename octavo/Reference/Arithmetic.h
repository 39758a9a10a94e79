// The scalar operations of the elementwise family: what each computes on doubles, on integers and
// on complex numbers; functions that only approximations are known of on extended precision too.
// Integers come extended to 64 bits and are truncated to their type afterwards (Map.h), which is
// wrapping. Rules are those of docs/semantics.md, section Interpreter.
#pragma once

#include "octavo/Reference/Elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>

namespace octavo::reference {

using Complex = std::complex<double>;

struct Add {
  static double real(double x, double y) { return x + y; }
  static std::uint64_t integer(IntegerType type, std::uint64_t x, std::uint64_t y) {
    return type.width == 1 ? x | y : x + y;
  }
  static Complex complex(Complex x, Complex y) { return x + y; }
};
struct Subtract {
  static double real(double x, double y) { return x - y; }
  static std::uint64_t integer(IntegerType, std::uint64_t x, std::uint64_t y) { return x - y; }
  static Complex complex(Complex x, Complex y) { return x - y; }
};
struct Multiply {
  static double real(double x, double y) { return x * y; }
  static std::uint64_t integer(IntegerType, std::uint64_t x, std::uint64_t y) { return x * y; }
  /// By the formula, without the recovery of infinities that C's operator does.
  static Complex complex(Complex x, Complex y) {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  }
};

/// Rule I6: x / 0 has all bits set, x rem 0 is x, and lowest / -1 wraps.
struct Divide {
  static double real(double x, double y) { return x / y; }
  static Complex complex(Complex x, Complex y) { return x / y; }
  static std::uint64_t integer(IntegerType type, std::uint64_t x, std::uint64_t y) {
    if (y == 0)
      return ~std::uint64_t{0};
    if (type.isUnsigned || type.width == 1)
      return x / y;
    if (y == ~std::uint64_t{0})
      return -x;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x) / static_cast<std::int64_t>(y));
  }
};
struct Remainder {
  static double real(double x, double y) { return std::fmod(x, y); }
  static std::uint64_t integer(IntegerType type, std::uint64_t x, std::uint64_t y) {
    if (y == 0)
      return x;
    if (type.isUnsigned || type.width == 1)
      return x % y;
    if (y == ~std::uint64_t{0})
      return 0;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x) % static_cast<std::int64_t>(y));
  }
};

/// Rule I6: by repeated multiplication, wrapping; a negative exponent gives the integer part of the
/// quotient 1 / x^-y, and 0 where x is 0.
struct Power {
  template <std::floating_point T> static T real(T x, T y) { return std::pow(x, y); }
  /// e^(y log x). x is i^k times a number near the positive axis, and i^(ky) is turned by whole
  /// quarters, so that a power near an axis keeps its small part.
  template <typename T> static std::complex<T> complex(std::complex<T> x, std::complex<T> y) {
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
    return quarterTurns(std::complex<T>(modulus * std::cos(angle), modulus * std::sin(angle)),
                        whole);
  }
  /// x times i^k.
  template <typename T> static std::complex<T> quarterTurns(std::complex<T> x, T k) {
    return k == 0              ? x
           : k == 1 || k == -3 ? std::complex<T>(-x.imag(), x.real())
           : k == -1 || k == 3 ? std::complex<T>(x.imag(), -x.real())
                               : -x;
  }
  static std::uint64_t integer(IntegerType type, std::uint64_t x, std::uint64_t y) {
    if (isNegative(type, y)) {
      const bool isOdd = (y & 1) != 0;
      return x == 1 ? 1 : x != ~std::uint64_t{0} ? 0 : isOdd ? x : 1;
    }
    std::uint64_t result = 1;
    for (; y != 0; y >>= 1, x *= x)
      if ((y & 1) != 0)
        result *= x;
    return result;
  }
};

/// Rule I5 for complex numbers: by the real part, then by the imaginary part.
inline bool isBefore(Complex x, Complex y) {
  return x.real() != y.real() ? x.real() < y.real() : x.imag() < y.imag();
}

/// Rule I5: NaN if either is NaN; -0 is less than +0.
struct Maximum {
  static double real(double x, double y) {
    if (x != x || y != y)
      return std::numeric_limits<double>::quiet_NaN();
    return x == y ? (std::signbit(x) ? y : x) : x > y ? x : y;
  }
  static std::uint64_t integer(IntegerType type, std::uint64_t x, std::uint64_t y) {
    return isLess(type, x, y) ? y : x;
  }
  static Complex complex(Complex x, Complex y) { return isBefore(y, x) ? x : y; }
  static bool isLess(IntegerType type, std::uint64_t x, std::uint64_t y) {
    return type.isUnsigned || type.width == 1
               ? x < y
               : static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
  }
};
struct Minimum {
  static double real(double x, double y) {
    if (x != x || y != y)
      return std::numeric_limits<double>::quiet_NaN();
    return x == y ? (std::signbit(x) ? x : y) : x < y ? x : y;
  }
  static std::uint64_t integer(IntegerType type, std::uint64_t x, std::uint64_t y) {
    return Maximum::isLess(type, x, y) ? x : y;
  }
  static Complex complex(Complex x, Complex y) { return isBefore(x, y) ? x : y; }
};

/// Shifts of a type's width or more: zeros, or copies of the highest bit.
struct ShiftLeft {
  static std::uint64_t integer(IntegerType type, std::uint64_t x, std::uint64_t y) {
    const std::uint64_t amount = truncate(type, y);
    return amount >= static_cast<std::uint64_t>(type.width) ? 0 : x << amount;
  }
};
struct ShiftRightLogical {
  static std::uint64_t integer(IntegerType type, std::uint64_t x, std::uint64_t y) {
    const std::uint64_t amount = truncate(type, y);
    return amount >= static_cast<std::uint64_t>(type.width) ? 0 : truncate(type, x) >> amount;
  }
};
struct ShiftRightArithmetic {
  static std::uint64_t integer(IntegerType type, std::uint64_t x, std::uint64_t y) {
    const std::uint64_t amount = truncate(type, y);
    const auto extended = static_cast<std::int64_t>(extend({type.width, false}, x));
    return static_cast<std::uint64_t>(
        extended >> std::min<std::uint64_t>(amount, static_cast<std::uint64_t>(type.width) - 1));
  }
};
struct PopulationCount {
  static std::uint64_t integer(IntegerType type, std::uint64_t x) {
    return static_cast<std::uint64_t>(std::popcount(truncate(type, x)));
  }
};
struct CountLeadingZeros {
  static std::uint64_t integer(IntegerType type, std::uint64_t x) {
    return static_cast<std::uint64_t>(std::countl_zero(truncate(type, x)) - (64 - type.width));
  }
};

struct And {
  static std::uint64_t integer(IntegerType, std::uint64_t x, std::uint64_t y) { return x & y; }
};
struct Or {
  static std::uint64_t integer(IntegerType, std::uint64_t x, std::uint64_t y) { return x | y; }
};
struct Xor {
  static std::uint64_t integer(IntegerType, std::uint64_t x, std::uint64_t y) { return x ^ y; }
};
struct Not {
  static std::uint64_t integer(IntegerType, std::uint64_t x) { return ~x; }
};

struct Negate {
  static double real(double x) { return -x; }
  static Complex complex(Complex x) { return -x; }
  static std::uint64_t integer(IntegerType, std::uint64_t x) { return -x; }
};
struct Abs {
  static double real(double x) { return std::fabs(x); }
  static std::uint64_t integer(IntegerType type, std::uint64_t x) {
    return isNegative(type, x) ? -x : x;
  }
};
struct Sign {
  static double real(double x) { return x == 0.0 || x != x ? x : std::copysign(1.0, x); }
  static Complex complex(Complex x) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    return x != x ? Complex(kNaN, kNaN) : x == 0.0 ? Complex(0.0, 0.0) : x / std::abs(x);
  }
  static std::uint64_t integer(IntegerType type, std::uint64_t x) {
    return isNegative(type, x) ? ~std::uint64_t{0} : x != 0;
  }
};

struct Exponential {
  static auto real(std::floating_point auto x) { return std::exp(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::exp(x); }
};
struct ExponentialMinusOne {
  static auto real(std::floating_point auto x) { return std::expm1(x); }
  /// Without the cancellation near 0: e^a cos b - 1 is expm1(a) cos b - 2 sin^2(b / 2).
  template <typename T> static std::complex<T> complex(std::complex<T> x) {
    const T half = std::sin(x.imag() / 2);
    return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half,
            std::exp(x.real()) * std::sin(x.imag())};
  }
};
struct Log {
  static auto real(std::floating_point auto x) { return std::log(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::log(x); }
};
struct LogPlusOne {
  static auto real(std::floating_point auto x) { return std::log1p(x); }
  /// log |1 + z| is log1p(a (a + 2) + b^2) / 2, which cancels nothing where z is small.
  template <typename T> static std::complex<T> complex(std::complex<T> x) {
    const T a = x.real(), b = x.imag();
    const T modulus = std::abs(a) < T(0.5) && std::abs(b) < T(0.5)
                          ? std::log1p(a * (a + 2) + b * b) / 2
                          : std::log(std::hypot(a + 1, b));
    return {modulus, std::atan2(b, a + 1)};
  }
};
struct Logistic {
  template <std::floating_point T> static T real(T x) { return 1 / (1 + std::exp(-x)); }
  /// 1 + e^(a + ib) is expm1(a) cos b + 2 cos^2(b / 2) + i e^a sin b, which cancels nothing near
  /// the poles.
  template <typename T> static std::complex<T> complex(std::complex<T> x) {
    const T a = -x.real(), b = -x.imag(), half = std::cos(b / 2);
    const std::complex<T> sum(std::expm1(a) * std::cos(b) + 2 * half * half,
                              std::exp(a) * std::sin(b));
    return std::complex<T>(1) / sum;
  }
};
struct Tanh {
  static auto real(std::floating_point auto x) { return std::tanh(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::tanh(x); }
};
struct Sine {
  static auto real(std::floating_point auto x) { return std::sin(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::sin(x); }
};
struct Cosine {
  static auto real(std::floating_point auto x) { return std::cos(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::cos(x); }
};
struct Tan {
  static auto real(std::floating_point auto x) { return std::tan(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::tan(x); }
};
/// y above x: the angle of the point (x, y); of complex numbers -i log((x + iy) / sqrt(x^2 + y^2)).
struct Atan2 {
  template <std::floating_point T> static T real(T y, T x) { return std::atan2(y, x); }
  /// With u = x + iy and v = x - iy, whose product is x^2 + y^2: half the difference of their
  /// logarithms, and half a turn where their sum is a turn off the logarithm of u v.
  template <typename T> static std::complex<T> complex(std::complex<T> y, std::complex<T> x) {
    constexpr T kPi = std::numbers::pi_v<T>;
    const T a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
    const std::complex<T> u(a - d, b + c), v(a + d, b - c);
    const T first = std::arg(u), second = std::arg(v);
    const T root = std::atan2(2 * (a * b + c * d), (a - b) * (a + b) + (c - d) * (c + d));
    // The argument of u times the conjugate of v keeps the difference of nearly equal ones.
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
};
struct Sqrt {
  static double real(double x) { return std::sqrt(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::sqrt(x); }
};
struct Rsqrt {
  template <std::floating_point T> static T real(T x) { return 1 / std::sqrt(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) {
    return std::complex<T>(1) / std::sqrt(x);
  }
};
struct Cbrt {
  static auto real(std::floating_point auto x) { return std::cbrt(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) {
    return std::polar(std::cbrt(std::abs(x)), std::arg(x) / 3);
  }
};
struct Floor {
  static double real(double x) { return std::floor(x); }
};
struct Ceil {
  static double real(double x) { return std::ceil(x); }
};
struct RoundAwayFromZero {
  static double real(double x) { return std::round(x); }
};
/// The rounding mode of the process is never changed, so this rounds ties to even.
struct RoundToEven {
  static double real(double x) { return std::nearbyint(x); }
};
struct Erf {
  static auto real(std::floating_point auto x) { return std::erf(x); }
};
struct Erfc {
  static auto real(std::floating_point auto x) { return std::erfc(x); }
};
struct Square {
  static double real(double x) { return x * x; }
  /// (a + b) (a - b), which cancels nothing, is 0 on the diagonals, also where the sum overflows.
  template <typename T> static std::complex<T> complex(std::complex<T> x) {
    const T a = x.real(), b = x.imag();
    const bool isDiagonal = std::abs(a) == std::abs(b) && std::isfinite(a);
    return {isDiagonal ? T(0) : (a - b) * (a + b), 2 * a * b};
  }
};

} // namespace octavo::reference
