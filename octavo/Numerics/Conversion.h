// Scalar conversion between values and codes: decode, round, encode. Values are doubles in this
// layer: every finite value of every format is exact in a double.
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
  Stochastic, ///< away from zero with a probability of distance / spacing (Conversion::randomBits)
};

/// The result for an infinite value, or one beyond the largest finite value after rounding. If the
/// rounding does not move a finite value away from zero, the result is the largest finite value
/// under every choice (IEEE 754, 7.4).
enum class Overflow : std::uint8_t {
  Saturate, ///< the largest finite value with the value's sign, also for Inf
  Special,  ///< Inf if the format has it, else NaN if the format has it, else as Saturate
};

/// The result for NaN in a format without NaN. In a format with NaN, the result is NaN.
enum class NanCode : std::uint8_t {
  NegativeZero, ///< the code of -0 for a positive NaN, of +0 for a negative one (ml_dtypes)
  Maximum,      ///< the largest finite value, with the NaN's sign
};

/// All settings of a conversion to an element format.
struct Conversion {
  Rounding rounding = Rounding::TiesToEven;
  Overflow overflow = Overflow::Special;
  NanCode nan = NanCode::NegativeZero;
  /// Stochastic only: a uniform 32-bit number r. The value rounds away from zero when
  /// r < 2^32 * (distance from the neighbour toward zero / spacing), compared exactly.
  std::uint32_t randomBits = 0;
};

/// Names of the settings in attributes, options and messages: "ties-to-even", "saturate", ... The
/// find functions return nullopt for an unknown name.
std::string_view roundingName(Rounding rounding);
std::optional<Rounding> findRounding(std::string_view name);
std::string_view overflowName(Overflow overflow);
std::optional<Overflow> findOverflow(std::string_view name);
std::string_view nanCodeName(NanCode nan);
std::optional<NanCode> findNanCode(std::string_view name);

/// The value of a code; Inf and NaN included. Bits above the width are ignored.
double decode(const ElementFormat& format, std::uint64_t code);

/// Rounds `value` to a value of the format.
///  - NaN gives NaN of the same sign, and so does an overflow to NaN. That holds in formats without
///    NaN, too: encode then chooses the code.
///  - E8M0: zero and negative values, -0 included, give NaN. Values below the smallest scale give
///    the smallest. TiesToEven rounds up on its tie (1.5 * 2^k) and everywhere between the two
///    smallest scales (ml_dtypes, XLA, torch).
///  - A two's complement format rounds to its grid; its most negative value is reachable.
double round(const ElementFormat& format, double value, const Conversion& conversion = {});

/// Whether `value` is finite and, rounded with an unbounded exponent, is beyond the largest value
/// of the format (IEEE 754, 7.4). Of `conversion`, only the rounding and its random bits count.
bool overflows(const ElementFormat& format, double value, const Conversion& conversion = {});

/// The code of a value that the format represents exactly (a result of round), or of NaN. A NaN
/// keeps its sign if the format has signed NaNs. INT8 has neither NaN nor -0: NaN gives the limit
/// of the NaN's sign under either choice. -0 gives +0 in a format without -0.
std::uint64_t encode(const ElementFormat& format, double value,
                     NanCode nan = NanCode::NegativeZero);

/// encode(round(value)): the code that `value` converts to.
std::uint64_t convert(const ElementFormat& format, double value, const Conversion& conversion = {});

/// The code of an integer, given as sign and 64-bit magnitude, rounded once.
std::uint64_t convertInteger(const ElementFormat& format, bool negative, std::uint64_t magnitude,
                             const Conversion& conversion = {});

/// StableHLO reduce_precision: `value`, a value of `source`, with its significand rounded (ties to
/// even) to the given width and then, where exponentBits is less than the source's, flushed to a
/// signed zero below the smallest normal exponent of an IEEE-like field of that width (not to its
/// subnormals, as the specification says) and turned into Inf above the largest.
/// exponentBits >= 1, trailingSignificandBits >= 0 (constraints C1, C2 of the specification).
double reducePrecision(const ElementFormat& source, double value, int exponentBits,
                       int trailingSignificandBits);

/// The largest finite, the smallest positive normal and the smallest positive value of a format.
double maxValue(const ElementFormat& format);
double minNormal(const ElementFormat& format);
double minPositive(const ElementFormat& format);

} // namespace octavo::numerics
