#include "octavo/Numerics/Conversion.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace octavo::numerics {

using format::Specials;

static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

static constexpr auto kRoundingNames = std::to_array<std::pair<Rounding, std::string_view>>({
    {Rounding::TiesToEven, "ties-to-even"},
    {Rounding::TiesToAway, "ties-to-away"},
    {Rounding::TowardZero, "toward-zero"},
    {Rounding::TowardPositive, "toward-positive"},
    {Rounding::TowardNegative, "toward-negative"},
    {Rounding::Stochastic, "stochastic"},
});
static constexpr auto kOverflowNames = std::to_array<std::pair<Overflow, std::string_view>>({
    {Overflow::Saturate, "saturate"},
    {Overflow::Special, "special"},
});

template <typename Table, typename Key> static std::string_view nameIn(const Table& table, Key key) {
  return std::ranges::find(table, key, &Table::value_type::first)->second;
}
template <typename Table> static auto findIn(const Table& table, std::string_view name) {
  auto row = std::ranges::find(table, name, &Table::value_type::second);
  return row == table.end() ? std::nullopt : std::optional(row->first);
}

std::string_view roundingName(Rounding rounding) { return nameIn(kRoundingNames, rounding); }
std::optional<Rounding> findRounding(std::string_view name) { return findIn(kRoundingNames, name); }
std::string_view overflowName(Overflow overflow) { return nameIn(kOverflowNames, overflow); }
std::optional<Overflow> findOverflow(std::string_view name) { return findIn(kOverflowNames, name); }

double decode(const ElementFormat& format, std::uint64_t code) {
  code &= format.codeMask();
  if (format.isNan(code))
    return kNan;
  if (format.isInteger()) {
    const auto magnitude = static_cast<double>(code & (format.signMask() - 1));
    const double sign = code & format.signMask() ? static_cast<double>(format.signMask()) : 0.0;
    return std::ldexp(magnitude - sign, -format.bias);
  }
  if (!format.isSigned())
    return std::ldexp(1.0, static_cast<int>(code) - format.bias);

  const bool negative = code & format.signMask();
  if (format.isInf(code))
    return negative ? -kInf : kInf;
  const int m = format.trailingSignificandBits;
  const std::uint64_t magnitude = code & (format.signMask() - 1);
  const auto exponent = static_cast<int>(magnitude >> m);
  const std::uint64_t trailing = magnitude & ((std::uint64_t{1} << m) - 1);
  // OCP MX 5.3: a normal number has an implicit leading bit, a subnormal the exponent of emin.
  const std::uint64_t significand = exponent > 0 ? trailing | (std::uint64_t{1} << m) : trailing;
  const double value = std::ldexp(static_cast<double>(significand),
                                  std::max(exponent, 1) - format.bias - m);
  return negative ? -value : value;
}

/// Rounds `scaled` >= 0, in units of the spacing at its place, to an integer. `negative` is the sign
/// of the value, for the directed roundings.
static double roundToInteger(double scaled, bool negative, const Conversion& conversion) {
  const double below = std::floor(scaled);
  const double distance = scaled - below; // exact: both have the same exponent or smaller
  const bool odd = std::fmod(below, 2.0) != 0;
  bool up = false;
  switch (conversion.rounding) {
  case Rounding::TiesToEven:
    up = distance > 0.5 || (distance == 0.5 && odd);
    break;
  case Rounding::TiesToAway:
    up = distance >= 0.5;
    break;
  case Rounding::TowardZero:
    break;
  case Rounding::TowardPositive:
    up = distance > 0 && !negative;
    break;
  case Rounding::TowardNegative:
    up = distance > 0 && negative;
    break;
  case Rounding::Stochastic:
    up = static_cast<double>(conversion.randomBits) < std::ldexp(distance, 32);
    break;
  }
  return below + (up ? 1 : 0);
}

/// Exponent of |value|'s leading bit. `value` is finite and not 0.
static int leadingExponent(double value) {
  int exponent;
  std::frexp(value, &exponent);
  return exponent - 1;
}

static double overflowed(const ElementFormat& format, bool negative, Overflow overflow) {
  const double sign = negative ? -1.0 : 1.0;
  if (overflow == Overflow::Special && format.hasInf())
    return sign * kInf;
  if (overflow == Overflow::Special && format.hasNan())
    return kNan;
  if (negative && format.isInteger())
    return decode(format, *format.lowestCode());
  return sign * maxValue(format);
}

/// E8M0: the value is a power of two. A rounding picks between 2^e and 2^(e+1) as between numbers;
/// TiesToEven's tie, 1.5 * 2^e, goes up (ml_dtypes, XLA).
static double roundScale(const ElementFormat& format, double value, const Conversion& conversion) {
  if (value <= 0) // -0 and 0 too: the format has neither zero nor sign
    return kNan;
  if (std::isinf(value))
    return overflowed(format, false, conversion.overflow);
  const int exponent = leadingExponent(value);
  if (exponent < format.emin())
    return std::ldexp(1.0, format.emin());
  Conversion toward = conversion;
  if (toward.rounding == Rounding::TiesToEven)
    toward.rounding = Rounding::TiesToAway;
  const double rounded = std::ldexp(
      roundToInteger(std::ldexp(value, -exponent), false, toward), exponent);
  return rounded > maxValue(format) ? overflowed(format, false, conversion.overflow) : rounded;
}

double round(const ElementFormat& format, double value, const Conversion& conversion) {
  if (std::isnan(value))
    return kNan;
  if (format.specials == Specials::Scale)
    return roundScale(format, value, conversion);
  const bool negative = std::signbit(value);
  if (std::isinf(value))
    return overflowed(format, negative, conversion.overflow);
  if (value == 0)
    return format.hasNegativeZero() ? value : 0.0;
  // The spacing of the format at the value's place; below emin it stays that of the subnormals.
  const int spacing =
      format.isInteger()
          ? format.quantumExponent()
          : std::max(leadingExponent(value), format.emin()) - format.trailingSignificandBits;
  // Scaling by a power of two is exact here but for f64's own subnormals, where spacing is -1074
  // and the quotient by it is an integer.
  const double magnitude =
      std::ldexp(roundToInteger(std::ldexp(std::fabs(value), -spacing), negative, conversion), spacing);
  const double limit = negative && format.isInteger()
                           ? -decode(format, *format.lowestCode())
                           : maxValue(format);
  if (magnitude > limit) {
    // A finite value that rounding toward zero, or away from its overflow, keeps at the limit.
    const bool towardZero = conversion.rounding == Rounding::TowardZero ||
                            (conversion.rounding == Rounding::TowardPositive && negative) ||
                            (conversion.rounding == Rounding::TowardNegative && !negative);
    return overflowed(format, negative, towardZero ? Overflow::Saturate : conversion.overflow);
  }
  if (magnitude == 0 && !format.hasNegativeZero())
    return 0.0;
  return negative ? -magnitude : magnitude;
}

std::uint64_t encode(const ElementFormat& format, double value, NanCode nan) {
  const bool negative = std::signbit(value);
  if (std::isnan(value)) {
    if (format.hasNan()) {
      const bool signedNan = format.specials == Specials::Ieee || format.specials == Specials::NanOnly;
      return *format.nanCode() | (negative && signedNan ? format.signMask() : 0);
    }
    if (nan == NanCode::Maximum || format.isInteger())
      return negative ? *format.lowestCode() : format.maxCode();
    return negative ? 0 : format.signMask();
  }
  if (format.specials == Specials::Scale)
    return static_cast<std::uint64_t>(leadingExponent(value) + format.bias);
  if (format.isInteger())
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::ldexp(value, format.bias))) &
           format.codeMask();
  const std::uint64_t sign = negative && (value != 0 || format.hasNegativeZero()) ? format.signMask() : 0;
  if (std::isinf(value))
    return *format.infCode() | sign;
  if (value == 0)
    return sign;
  const int m = format.trailingSignificandBits;
  const int exponent = std::max(leadingExponent(value), format.emin());
  const auto significand =
      static_cast<std::uint64_t>(std::ldexp(std::fabs(value), m - exponent));
  // The leading bit of a normal significand adds 1 to the exponent field, which starts at 0.
  const auto field = static_cast<std::uint64_t>(exponent - format.emin());
  return sign | ((field << m) + significand);
}

std::uint64_t convert(const ElementFormat& format, double value, const Conversion& conversion) {
  if (std::isnan(value))
    return encode(format, value, conversion.nan);
  return encode(format, round(format, value, conversion), conversion.nan);
}

std::uint64_t convertInteger(const ElementFormat& format, bool negative, std::uint64_t magnitude,
                             const Conversion& conversion) {
  // A double holds 53 bits. For narrower targets the integer is first rounded to odd in 54 bits of
  // which the last two are sticky: a second rounding to at most 51 bits then gives what one gives.
  const int extra = std::max(0, 64 - std::countl_zero(magnitude) - 53);
  if (extra == 0 || format.trailingSignificandBits == 52) {
    if (extra == 0)
      return convert(format, negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude),
                     conversion);
    const double scaled = std::ldexp(static_cast<double>(magnitude >> extra), 0);
    const double fraction =
        std::ldexp(static_cast<double>(magnitude & ((std::uint64_t{1} << extra) - 1)), -extra);
    // scaled < 2^53 and an integer: the rounding decides on the fraction alone.
    const bool odd = (magnitude >> extra) & 1;
    const double unit = roundToInteger((odd ? 1.0 : 0.0) + fraction, negative, conversion);
    const double value = std::ldexp(scaled - (odd ? 1.0 : 0.0) + unit, extra);
    return encode(format, negative ? -value : value);
  }
  const std::uint64_t mask = (std::uint64_t{1} << extra) - 1;
  const std::uint64_t kept = (magnitude & ~mask) | (magnitude & mask ? std::uint64_t{1} << extra : 0);
  const auto value = static_cast<double>(kept);
  return convert(format, negative ? -value : value, conversion);
}

double reducePrecision(const ElementFormat& source, double value, int exponentBits,
                       int trailingSignificandBits) {
  assert(exponentBits >= 1 && trailingSignificandBits >= 0);
  if (std::isnan(value) || std::isinf(value) || value == 0)
    return value;
  const int m = std::min(trailingSignificandBits, source.trailingSignificandBits);
  const int spacing = std::max(leadingExponent(value), source.emin()) - m;
  const double rounded =
      std::ldexp(roundToInteger(std::ldexp(std::fabs(value), -spacing), false, {}), spacing);
  if (rounded == 0 || rounded > maxValue(source))
    return std::copysign(rounded == 0 ? 0.0 : kInf, value);
  if (exponentBits >= source.exponentBits)
    return std::copysign(rounded, value);
  const int bias = (1 << (exponentBits - 1)) - 1;
  const int exponent = leadingExponent(rounded);
  if (exponent > bias || (exponentBits == 1 && exponent > 0))
    return std::copysign(kInf, value);
  return std::copysign(exponent < 1 - bias ? 0.0 : rounded, value);
}

double maxValue(const ElementFormat& format) { return decode(format, format.maxCode()); }

double minNormal(const ElementFormat& format) { return std::ldexp(1.0, format.emin()); }

double minPositive(const ElementFormat& format) {
  return std::ldexp(1.0, format.hasZero() ? format.quantumExponent() : format.emin());
}

} // namespace octavo::numerics
