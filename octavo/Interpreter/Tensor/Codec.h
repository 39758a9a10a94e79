// Codecs for loops over elements. A loop selects a codec once, by the container type. It converts
// the codes of one float format to f64 and back, or the codes of one integer type to 64 bits and
// back. The results are those of numerics::decode and numerics::convert, bit for bit.
#pragma once

#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/ElementType.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace octavo::interpreter {

using format::ElementFormat;
using numerics::IntegerType;

/// x, or the positive quiet NaN if x is any NaN (rule I3).
template <typename Real> inline Real canonicalNan(Real x) {
  return x == x ? x : std::numeric_limits<Real>::quiet_NaN();
}

/// f32 and f64: the machine's conversion rounds once, ties to even, overflow to Inf.
template <typename Real> struct MachineCodec {
  using Container = Real;
  static double decode(Real code) { return static_cast<double>(code); }
  static Real encode(double value) { return canonicalNan(static_cast<Real>(value)); }
};

/// A format of at most 16 bits. Decoding reads a table of all codes; encoding works on the bits of
/// the f64. numerics::convert encodes overflow, infinity, NaN, and every value of a format without
/// sign and zero.
template <typename Code> class TableCodec {
public:
  using Container = Code;

  explicit TableCodec(const ElementFormat& format);

  double decode(Code code) const { return static_cast<double>(values[code]); }

  Code encode(double value) const {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
    if (magnitude >= beyond)
      return static_cast<Code>(numerics::convert(*format, canonicalNan(value)));
    std::uint64_t code = 0;
    if (magnitude >= smallestNormal) {
      // Adds just below half of the last kept bit's weight, and one more if that bit is set. So the
      // sum carries exactly where ties to even rounds up.
      const std::uint64_t half = (std::uint64_t{1} << (dropped - 1)) - 1;
      const std::uint64_t odd = ((magnitude >> dropped) - rebias) & 1;
      code = ((magnitude + half + odd) >> dropped) - rebias;
    } else {
      // In units of the smallest subnormal, the value is below 2^11. Adding 2^52 leaves its integer
      // part, rounded ties to even, in the low bits.
      const double units = std::bit_cast<double>(magnitude) * perQuantum + 0x1p52;
      code = std::bit_cast<std::uint64_t>(units) & 0xFFFF;
    }
    const bool isNegative = (bits >> 63) != 0;
    return static_cast<Code>(isNegative && (code != 0 || hasNegativeZero) ? code | sign : code);
  }

private:
  const ElementFormat* format;
  const float* values;          ///< by code; f32 represents every format of 16 bits exactly
  std::uint64_t beyond;         ///< bits of the smallest magnitude that numerics::convert encodes
  std::uint64_t smallestNormal; ///< bits of the smallest normal magnitude as f64
  std::uint64_t rebias;         ///< difference of the biases, shifted to the exponent field
  std::uint64_t sign;
  double perQuantum; ///< 1 / the smallest subnormal
  int dropped;       ///< number of bits of f64's significand that the format lacks
  bool hasNegativeZero;
};

/// Calls `f` with the codec of a float format.
template <typename F> decltype(auto) withCodec(const ElementFormat& format, F f) {
  if (format == format::element("f32"))
    return f(MachineCodec<float>());
  if (format == format::element("f64"))
    return f(MachineCodec<double>());
  if (format.isNarrow())
    return f(TableCodec<std::uint8_t>(format));
  return f(TableCodec<std::uint16_t>(format));
}

/// Extends the code of an integer type to 64 bits: sign-extended, or zero-extended if the type is
/// unsigned or boolean.
inline std::uint64_t extend(IntegerType type, std::uint64_t code) {
  const int unused = 64 - type.width;
  code <<= unused;
  return type.isUnsigned || type.width == 1
             ? code >> unused
             : static_cast<std::uint64_t>(static_cast<std::int64_t>(code) >> unused);
}

/// The low bits of `value` that the type keeps (wrapping).
inline std::uint64_t truncate(IntegerType type, std::uint64_t value) {
  return value & (~std::uint64_t{0} >> (64 - type.width));
}

/// Whether an extended integer is below zero.
inline bool isNegative(IntegerType type, std::uint64_t extended) {
  return !type.isUnsigned && type.width > 1 && static_cast<std::int64_t>(extended) < 0;
}

/// Integers in containers of `Code`.
template <typename Code> struct IntegerCodec {
  using Container = Code;
  IntegerType type;

  std::uint64_t decode(Code code) const { return extend(type, code); }
  Code encode(std::uint64_t value) const { return static_cast<Code>(truncate(type, value)); }
};

/// Calls `f` with the codec of an integer type.
template <typename F> decltype(auto) withCodec(IntegerType type, F f) {
  switch (type.width) {
  case 16:
    return f(IntegerCodec<std::uint16_t>{type});
  case 32:
    return f(IntegerCodec<std::uint32_t>{type});
  case 64:
    return f(IntegerCodec<std::uint64_t>{type});
  default:
    return f(IntegerCodec<std::uint8_t>{type});
  }
}

/// A container of 16 bytes: complex<f64>.
struct Container16 {
  std::uint64_t low, high;
};

/// Calls `f` with a value of the container's type, for loops that move codes without decoding them.
template <typename F> decltype(auto) withContainer(const numerics::ElementType& type, F f) {
  switch (type.bytes()) {
  case 1:
    return f(std::uint8_t{});
  case 2:
    return f(std::uint16_t{});
  case 4:
    return f(std::uint32_t{});
  case 8:
    return f(std::uint64_t{});
  default:
    return f(Container16{});
  }
}

} // namespace octavo::interpreter
