// The scalar operations of the elementwise family, on doubles, integers and complex numbers.
// Functions without an exact algorithm are also defined on extended precision. Integers are
// extended to 64 bits and truncated to their type afterwards (Map.h), which wraps. Rules are those
// of docs/semantics.md, section Interpreter.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"
#include "octavo/Numerics/ComplexFunctions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>

namespace octavo::interpreter {

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

/// Rule I6: repeated multiplication, which wraps. A negative exponent gives the integer part of the
/// quotient 1 / x^-y, and 0 if x is 0.
struct Power {
  template <std::floating_point T> static T real(T x, T y) { return std::pow(x, y); }
  template <typename T> static std::complex<T> complex(std::complex<T> x, std::complex<T> y) {
    return numerics::power(x, y);
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

/// Rule I5 for complex numbers: compares the real parts, then the imaginary parts.
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

/// Shifts by the type's width or more give zeros, or copies of the sign bit.
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
  static Complex complex(Complex x) { return numerics::sign(x); }
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
  template <typename T> static std::complex<T> complex(std::complex<T> x) {
    return numerics::exponentialMinusOne(x);
  }
};
struct Log {
  static auto real(std::floating_point auto x) { return std::log(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::log(x); }
};
struct LogPlusOne {
  static auto real(std::floating_point auto x) { return std::log1p(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) {
    return numerics::logPlusOne(x);
  }
};
struct Logistic {
  template <std::floating_point T> static T real(T x) { return 1 / (1 + std::exp(-x)); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) {
    return numerics::logistic(x);
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
struct Acos {
  static auto real(std::floating_point auto x) { return std::acos(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::acos(x); }
};
struct Acosh {
  static auto real(std::floating_point auto x) { return std::acosh(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::acosh(x); }
};
struct Asin {
  static auto real(std::floating_point auto x) { return std::asin(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::asin(x); }
};
struct Asinh {
  static auto real(std::floating_point auto x) { return std::asinh(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::asinh(x); }
};
struct Atan {
  static auto real(std::floating_point auto x) { return std::atan(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::atan(x); }
};
struct Atanh {
  static auto real(std::floating_point auto x) { return std::atanh(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::atanh(x); }
};
struct Cosh {
  static auto real(std::floating_point auto x) { return std::cosh(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::cosh(x); }
};
struct Sinh {
  static auto real(std::floating_point auto x) { return std::sinh(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::sinh(x); }
};
/// atan2(y, x), the angle of the point (x, y). Complex: -i log((x + iy) / sqrt(x^2 + y^2)).
struct Atan2 {
  template <std::floating_point T> static T real(T y, T x) { return std::atan2(y, x); }
  template <typename T> static std::complex<T> complex(std::complex<T> y, std::complex<T> x) {
    return numerics::arcTangent(y, x);
  }
};
struct Sqrt {
  static double real(double x) { return std::sqrt(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) { return std::sqrt(x); }
};
/// For f64 (called with `long double`, which holds it): 1 / sqrt(x) can be 1.5 ulp off, so one
/// Newton step in f64 follows, which leaves little more than 0.5 ulp. Compiled code has the same
/// bits on every machine. For narrower floats: 1 / sqrt(x) in f64, which is correct after rounding
/// to the format.
struct Rsqrt {
  static double real(double x) { return 1 / std::sqrt(x); }
  static long double real(long double x) {
    const auto number = static_cast<double>(x);
    const double y = 1 / std::sqrt(number);
    const double product = number * y, rest = std::fma(number, y, -product);
    const double error = std::fma(-product, y, 1.0) - rest * y; // 1 - x y^2
    return error == error ? std::fma(0.5 * y, error, y) : y;    // NaN for 0, infinity and NaN
  }
  template <typename T> static std::complex<T> complex(std::complex<T> x) {
    return numerics::reciprocalRoot(x);
  }
};
struct Cbrt {
  static auto real(std::floating_point auto x) { return std::cbrt(x); }
  template <typename T> static std::complex<T> complex(std::complex<T> x) {
    return numerics::cubeRoot(x);
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
/// Rounds ties to even, because the process's rounding mode is never changed.
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
  template <typename T> static std::complex<T> complex(std::complex<T> x) {
    return numerics::square(x);
  }
};

} // namespace octavo::interpreter
