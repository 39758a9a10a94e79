#include "octavo/Numerics/Conversion.h"

#include "octavo/Numerics/PowerOfTwo.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <compare>
#include <limits>
#include <utility>

namespace octavo::numerics {

using format::Specials;

static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

static constexpr auto kRoundingNames = std::to_array<std::pair<Rounding, std::string_view>>({
    {Rounding::TiesToEven, "ties-to-even"},
    {Rounding::TiesToAway, "ties-to-away"},
    {Rounding::TiesTowardZero, "ties-toward-zero"},
    {Rounding::TowardZero, "toward-zero"},
    {Rounding::TowardPositive, "toward-positive"},
    {Rounding::TowardNegative, "toward-negative"},
    {Rounding::Stochastic, "stochastic"},
});
static constexpr auto kOverflowNames = std::to_array<std::pair<Overflow, std::string_view>>({
    {Overflow::Saturate, "saturate"},
    {Overflow::Special, "special"},
});
static constexpr auto kNanCodeNames = std::to_array<std::pair<NanCode, std::string_view>>({
    {NanCode::NegativeZero, "negative-zero"},
    {NanCode::Maximum, "maximum"},
});

template <typename Table, typename Key>
static std::string_view nameIn(const Table& table, Key key) {
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
std::string_view nanCodeName(NanCode nan) { return nameIn(kNanCodeNames, nan); }
std::optional<NanCode> findNanCode(std::string_view name) { return findIn(kNanCodeNames, name); }

double decode(const ElementFormat& format, std::uint64_t code) {
  code &= format.codeMask();
  if (format.isNan(code)) {
    const bool isNegative = format.specials != Specials::UnsignedZero && format.isSigned() &&
                            (code & format.signMask()) != 0;
    return isNegative ? -kNan : kNan;
  }
  if (format.isInteger()) {
    const auto magnitude = static_cast<double>(code & (format.signMask() - 1));
    const double sign = code & format.signMask() ? static_cast<double>(format.signMask()) : 0.0;
    return timesPowerOfTwo(magnitude - sign, -format.bias);
  }
  if (!format.isSigned())
    return timesPowerOfTwo(1.0, static_cast<int>(code) - format.bias);

  const bool negative = code & format.signMask();
  if (format.isInf(code))
    return negative ? -kInf : kInf;
  const int m = format.trailingSignificandBits;
  const std::uint64_t magnitude = code & (format.signMask() - 1);
  const auto exponent = static_cast<int>(magnitude >> m);
  const std::uint64_t trailing = magnitude & ((std::uint64_t{1} << m) - 1);
  // OCP MX 5.3: a normal number has an implicit leading bit, a subnormal the exponent of emin.
  const std::uint64_t significand = exponent > 0 ? trailing | (std::uint64_t{1} << m) : trailing;
  const double value =
      timesPowerOfTwo(static_cast<double>(significand), std::max(exponent, 1) - format.bias - m);
  return negative ? -value : value;
}

namespace {

/// The distance x of a magnitude from the multiple of the spacing at or below it, in spacings:
/// 0 <= x < 1.
struct Fraction {
  bool isZero;
  std::strong_ordering half; ///< x compared with 1/2
  bool isAboveRandom;        ///< r < 2^32 * x
};

} // namespace

/// Whether a magnitude goes to the next multiple away from zero. `isOdd`: the lower one is odd.
static bool roundsAway(Rounding rounding, bool isNegative, bool isOdd, const Fraction& fraction) {
  switch (rounding) {
  case Rounding::TiesToEven:
    return fraction.half > 0 || (fraction.half == 0 && isOdd);
  case Rounding::TiesToAway:
    return fraction.half >= 0;
  case Rounding::TiesTowardZero:
    return fraction.half > 0;
  case Rounding::TowardZero:
    return false;
  case Rounding::TowardPositive:
    return !fraction.isZero && !isNegative;
  case Rounding::TowardNegative:
    return !fraction.isZero && isNegative;
  case Rounding::Stochastic:
    return fraction.isAboveRandom;
  }
  return false;
}

/// Rounds 0 <= `scaled` < 2^63 to an integer. `isOdd`: the code of the integer below is.
static double roundToInteger(double scaled, bool isNegative, bool isOdd,
                             const Conversion& conversion) {
  const double below = static_cast<double>(static_cast<std::int64_t>(scaled));
  // Exact: x - floor(x) has no bits below those of x, and 2^32 times it none more.
  const double distance = scaled - below;
  const auto half = distance > 0.5   ? std::strong_ordering::greater
                    : distance < 0.5 ? std::strong_ordering::less
                                     : std::strong_ordering::equal;
  const Fraction fraction{distance == 0, half, conversion.randomBits < distance * 0x1p32};
  return below + roundsAway(conversion.rounding, isNegative, isOdd, fraction);
}

/// The exponent of the format's spacing at values with this leading exponent. Below emin it is that
/// of the subnormals; above emax it keeps growing, as if the exponent had no upper end.
static int spacingExponent(const ElementFormat& format, int leading) {
  if (format.isInteger())
    return format.quantumExponent();
  return std::max(leading, format.emin()) - format.trailingSignificandBits;
}

/// Whether the code of a magnitude of `units` spacings is odd. Where the significand has no
/// trailing bits, the last bit of a normal value's code is that of its exponent field.
/// 0 <= units < 2^63.
static bool isOddCode(int emin, int trailingSignificandBits, int leading, double units) {
  if (trailingSignificandBits > 0 || leading < emin)
    return (static_cast<std::int64_t>(units) & 1) != 0;
  return (leading - emin + 1) % 2 != 0;
}

/// The largest magnitude of that sign.
static double limitValue(const ElementFormat& format, bool isNegative) {
  return isNegative && format.isInteger() ? -decode(format, *format.lowestCode())
                                          : maxValue(format);
}

/// |value| rounded to a multiple of the spacing, as if the exponent had no upper end. `value` is
/// finite, and for E8M0 positive.
static double roundMagnitude(const ElementFormat& format, double value,
                             const Conversion& conversion) {
  if (value == 0)
    return 0;
  const int leading = leadingExponent(value);
  // Far beyond the largest value, rounding changes nothing, and scaling could overflow a double.
  if (leading > format.emax() + 1)
    return std::fabs(value);
  Conversion rule = conversion;
  if (format.specials == Specials::Scale) {
    if (leading < format.emin())
      return timesPowerOfTwo(1.0, format.emin());
    // ml_dtypes, XLA and torch round up wherever the value is a subnormal of f32.
    if (rule.rounding == Rounding::TiesToEven &&
        std::fabs(value) < minNormal(format::element("f32")))
      return timesPowerOfTwo(1.0, std::fabs(value) > timesPowerOfTwo(1.0, leading) ? leading + 1
                                                                                   : leading);
    if (rule.rounding == Rounding::TiesToEven)
      rule.rounding = Rounding::TiesToAway;
  }
  const int spacing = spacingExponent(format, leading);
  // Exact: a power of two times a double that stays below 2^54 and above the subnormals of f64, or
  // is one of them, scaled up.
  const double scaled = timesPowerOfTwo(std::fabs(value), -spacing);
  const bool isOdd = isOddCode(format.emin(), format.trailingSignificandBits, leading, scaled);
  return timesPowerOfTwo(roundToInteger(scaled, std::signbit(value), isOdd, rule), spacing);
}

/// Whether a finite overflow gives the largest value under any Overflow: the rounding does not move
/// away from zero for this sign (IEEE 754, 7.4).
static bool stopsAtLimit(Rounding rounding, bool isNegative) {
  return rounding == Rounding::TowardZero || (rounding == Rounding::TowardPositive && isNegative) ||
         (rounding == Rounding::TowardNegative && !isNegative);
}

static double overflowed(const ElementFormat& format, bool isNegative, Overflow overflow) {
  const double sign = isNegative ? -1.0 : 1.0;
  if (overflow == Overflow::Special && format.hasInf())
    return sign * kInf;
  if (overflow == Overflow::Special && format.hasNan())
    return std::copysign(kNan, sign); // ml_dtypes keeps the sign where NaN has one
  return sign * limitValue(format, isNegative);
}

/// A rounded magnitude as a value of the format.
static double withinLimits(const ElementFormat& format, bool isNegative, double magnitude,
                           const Conversion& conversion) {
  if (magnitude > limitValue(format, isNegative))
    return overflowed(format, isNegative,
                      stopsAtLimit(conversion.rounding, isNegative) ? Overflow::Saturate
                                                                    : conversion.overflow);
  if (magnitude == 0 && !format.hasNegativeZero())
    return 0;
  return isNegative ? -magnitude : magnitude;
}

double round(const ElementFormat& format, double value, const Conversion& conversion) {
  if (std::isnan(value))
    return value;
  if (format.specials == Specials::Scale && value <= 0)
    return kNan;
  const bool isNegative = std::signbit(value);
  if (std::isinf(value))
    return overflowed(format, isNegative, conversion.overflow);
  return withinLimits(format, isNegative, roundMagnitude(format, value, conversion), conversion);
}

bool overflows(const ElementFormat& format, double value, const Conversion& conversion) {
  if (!std::isfinite(value) || (format.specials == Specials::Scale && value <= 0))
    return false;
  return roundMagnitude(format, value, conversion) > limitValue(format, std::signbit(value));
}

std::uint64_t encode(const ElementFormat& format, double value, NanCode nan) {
  const bool negative = std::signbit(value);
  if (std::isnan(value)) {
    if (format.hasNan()) {
      const bool signedNan =
          format.specials == Specials::Ieee || format.specials == Specials::NanOnly;
      return *format.nanCode() | (negative && signedNan ? format.signMask() : 0);
    }
    if (nan == NanCode::Maximum || format.isInteger())
      return negative ? *format.lowestCode() : format.maxCode();
    return negative ? 0 : format.signMask();
  }
  if (format.specials == Specials::Scale)
    return static_cast<std::uint64_t>(leadingExponent(value) + format.bias);
  if (format.isInteger())
    return static_cast<std::uint64_t>(
               static_cast<std::int64_t>(timesPowerOfTwo(value, format.bias))) &
           format.codeMask();
  const std::uint64_t sign =
      negative && (value != 0 || format.hasNegativeZero()) ? format.signMask() : 0;
  if (std::isinf(value))
    return *format.infCode() | sign;
  if (value == 0)
    return sign;
  const int m = format.trailingSignificandBits;
  const int exponent = std::max(leadingExponent(value), format.emin());
  const auto significand =
      static_cast<std::uint64_t>(timesPowerOfTwo(std::fabs(value), m - exponent));
  // The leading bit of a normal significand adds 1 to the exponent field, which starts at 0.
  const auto field = static_cast<std::uint64_t>(exponent - format.emin());
  return sign | ((field << m) + significand);
}

std::uint64_t convert(const ElementFormat& format, double value, const Conversion& conversion) {
  return encode(format, round(format, value, conversion), conversion.nan);
}

std::uint64_t convertInteger(const ElementFormat& format, bool negative, std::uint64_t magnitude,
                             const Conversion& conversion) {
  const int leading = 63 - std::countl_zero(magnitude);
  const int spacing = spacingExponent(format, leading);
  // A double holds 53 bits; what is wider on a grid that is finer is far beyond any such format.
  if (leading <= 52 || spacing <= 0) {
    const auto value = static_cast<double>(magnitude);
    return convert(format, negative ? -value : value, conversion);
  }
  if (format.specials == Specials::Scale && negative)
    return *format.nanCode();
  using Wide = unsigned __int128;
  const std::uint64_t below = magnitude >> spacing;
  const Wide remainder = magnitude - (below << spacing);
  const Wide one = Wide{1} << spacing;
  const Fraction fraction{remainder == 0, 2 * remainder <=> one,
                          conversion.randomBits * one < remainder << 32};
  // E8M0's tie goes up, as that of an odd code does.
  const bool isOdd =
      format.specials == Specials::Scale ||
      isOddCode(format.emin(), format.trailingSignificandBits, leading, static_cast<double>(below));
  const bool away = roundsAway(conversion.rounding, negative, isOdd, fraction);
  const double rounded = timesPowerOfTwo(static_cast<double>(below + away), spacing);
  return encode(format, withinLimits(format, negative, rounded, conversion), conversion.nan);
}

double reducePrecision(const ElementFormat& source, double value, int exponentBits,
                       int trailingSignificandBits) {
  assert(exponentBits >= 1 && trailingSignificandBits >= 0);
  if (std::isnan(value) || std::isinf(value) || value == 0)
    return value;
  const int m = std::min(trailingSignificandBits, source.trailingSignificandBits);
  const int leading = leadingExponent(value);
  const int spacing = std::max(leading, source.emin()) - m;
  const double scaled = timesPowerOfTwo(std::fabs(value), -spacing);
  const bool isOdd = isOddCode(source.emin(), m, leading, scaled);
  const double rounded = timesPowerOfTwo(roundToInteger(scaled, false, isOdd, {}), spacing);
  if (rounded == 0 || rounded > maxValue(source))
    return std::copysign(rounded == 0 ? 0.0 : kInf, value);
  if (exponentBits >= source.exponentBits)
    return std::copysign(rounded, value);
  const int bias = (1 << (exponentBits - 1)) - 1;
  const int exponent = leadingExponent(rounded);
  if (exponent > bias)
    return std::copysign(kInf, value);
  return std::copysign(exponent < 1 - bias ? 0.0 : rounded, value);
}

double maxValue(const ElementFormat& format) { return decode(format, format.maxCode()); }

double minNormal(const ElementFormat& format) { return timesPowerOfTwo(1.0, format.emin()); }

double minPositive(const ElementFormat& format) {
  return timesPowerOfTwo(1.0, format.hasZero() ? format.quantumExponent() : format.emin());
}

} // namespace octavo::numerics
