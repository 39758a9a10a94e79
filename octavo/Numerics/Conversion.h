// Scalar conversion between values and codes: decode, round, encode. Every finite value of every
// format is exact in a double, so a double carries values everywhere in this layer.
#pragma once

#include "octavo/Format/ElementFormat.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace octavo::numerics {

using format::ElementFormat;

enum class Rounding : std::uint8_t {
  TiesToEven,
  TiesToAway,
  TiesTowardZero,
  TowardZero,
  TowardPositive,
  TowardNegative,
  Stochastic, ///< up in magnitude with a probability of the distance, from explicit random bits
};

/// What a value becomes that is beyond the largest finite value after rounding, or infinite. A
/// finite value stays at the largest under a rounding that does not move it away from zero
/// (IEEE 754, 7.4), whatever is said here.
enum class Overflow : std::uint8_t {
  Saturate, ///< the largest finite value with its sign; Inf too
  Special,  ///< Inf where the format has one, else NaN, else as Saturate
};

/// What NaN becomes in a format that has no NaN. Where the format has one, NaN stays NaN.
enum class NanCode : std::uint8_t {
  NegativeZero, ///< the code of -0 for a positive NaN, of +0 for a negative one (ml_dtypes)
  Maximum,      ///< the largest finite value, with the NaN's sign
};

/// The whole description of a conversion to an element format.
struct Conversion {
  Rounding rounding = Rounding::TiesToEven;
  Overflow overflow = Overflow::Special;
  NanCode nan = NanCode::NegativeZero;
  /// Stochastic only: a uniform 32-bit number r. The value rounds away from zero when
  /// r < 2^32 * (distance from the neighbour toward zero / spacing), compared exactly.
  std::uint32_t randomBits = 0;
};

/// Name tables, for attributes, options and messages: "ties-to-even", "saturate", ...
std::string_view roundingName(Rounding rounding);
std::optional<Rounding> findRounding(std::string_view name);
std::string_view overflowName(Overflow overflow);
std::optional<Overflow> findOverflow(std::string_view name);
std::string_view nanCodeName(NanCode nan);
std::optional<NanCode> findNanCode(std::string_view name);

/// The value of a code; Inf and NaN included. Bits above the width are ignored.
double decode(const ElementFormat& format, std::uint64_t code);

/// The value of the format that `value` rounds to. NaN gives NaN of its sign (also in formats
/// without one: encode resolves it), and so does an overflow to NaN. E8M0: zero and negative
/// values, -0 included, give NaN; values below the smallest scale give the smallest; TiesToEven, on
/// its tie (1.5 * 2^k) and everywhere between the two smallest scales, goes up (ml_dtypes, XLA,
/// torch). A two's complement format rounds to its grid; its most negative value is reachable.
double round(const ElementFormat& format, double value, const Conversion& conversion = {});

/// Whether `value` is finite and lies, rounded as if the exponent had no upper end, beyond the
/// largest value of the format (IEEE 754, 7.4). Of `conversion` only the rounding counts.
bool overflows(const ElementFormat& format, double value, const Conversion& conversion = {});

/// The code of a value that the format represents exactly (a result of round), or of NaN. The sign
/// of a NaN is kept where the format has signed NaNs. INT8, which has neither NaN nor -0, takes the
/// limit of the NaN's sign under either choice. -0 in a format without it gives +0.
std::uint64_t encode(const ElementFormat& format, double value,
                     NanCode nan = NanCode::NegativeZero);

/// encode(round(value)): the code a value converts to.
std::uint64_t convert(const ElementFormat& format, double value, const Conversion& conversion = {});

/// The code of an integer of up to 64 bits, sign and magnitude apart, rounded once.
std::uint64_t convertInteger(const ElementFormat& format, bool negative, std::uint64_t magnitude,
                             const Conversion& conversion = {});

/// StableHLO reduce_precision: `value`, a value of `source`, with its significand rounded (ties to
/// even) to the given width and then, where exponentBits is less than the source's, flushed to a
/// signed zero below the smallest normal exponent of an IEEE-like field of that width (not to its
/// subnormals, as the specification says) and turned into Inf above the largest.
/// exponentBits >= 1, trailingSignificandBits >= 0 (constraints C1, C2 of the specification).
double reducePrecision(const ElementFormat& source, double value, int exponentBits,
                       int trailingSignificandBits);

/// Value of largest magnitude, smallest positive normal and subnormal value of a format.
double maxValue(const ElementFormat& format);
double minNormal(const ElementFormat& format);
double minPositive(const ElementFormat& format);

} // namespace octavo::numerics
