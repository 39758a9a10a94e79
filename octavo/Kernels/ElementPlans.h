// What a kernel must know of an element format to convert to it and to decode it: plain constants,
// computed from the table's row by code compiled for the baseline, so that no instruction-set
// folder needs the row itself.
#pragma once

#include "octavo/Numerics/Conversion.h"

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

using format::ElementFormat;
using numerics::Conversion;
using numerics::Rounding;

/// Constants of a conversion to a narrow format.
struct ConvertPlan {
  enum class Kind : std::uint8_t {
    Float,   ///< sign and magnitude
    Integer, ///< two's complement
    Scale,   ///< E8M0
  };
  Kind kind;
  Rounding rounding;
  std::uint32_t trailing; ///< trailing significand bits; Integer: bits of the magnitude
  std::uint32_t emin;     ///< biased as in f32: spacing is 2^(emin - 127 - trailing) up to there
  std::uint32_t signBit;  ///< of the code
  std::uint32_t unsignedZero; ///< 1: a negative zero becomes +0
  /// Magnitudes, by sign: what a finite value beyond the largest one becomes, and an infinite one.
  /// Integer: the largest magnitude.
  std::uint32_t finiteLimit[2];
  std::uint32_t infinite[2];
  std::uint32_t nan[2];          ///< whole codes, by the NaN's sign
  std::uint32_t infiniteCode[2]; ///< the same of infinite values
  float limitValue;              ///< value of the greater finiteLimit, as if the format went on
};

/// The plan of `conversion` (its randomBits are not used) to a narrow format. All plans are made by
/// the first call: small tensors would notice.
const ConvertPlan& convertPlan(const ElementFormat& format, const Conversion& conversion);

/// Constants of decoding a narrow format to f32.
struct DecodePlan {
  /// Each code's value as bf16, which holds every narrow value exactly: low and high bytes apart.
  alignas(64) std::uint8_t low[256];
  alignas(64) std::uint8_t high[256];
  enum class Symmetry : std::uint8_t {
    Periodic, ///< of a period of 128 at most: the width is below 8
    Sign,     ///< a code's highest bit is its value's sign bit
    None,
  };
  Symmetry symmetry;
  enum class Route : std::uint8_t {
    Half,    ///< magnitude << shift is an f16 that times `factor` is the value
    Integer, ///< two's complement times `factor`
    Table,
  };
  Route route;
  std::uint32_t width;
  std::uint32_t shift;
  float factor;
  std::uint8_t magnitudeMask;
  /// Codes that the table decodes on Route::Half: magnitudes from firstSpecial up, and `exception`.
  bool hasSpecials;
  std::uint8_t firstSpecial;
  std::uint8_t exception;
};

/// The plan of a narrow format of the table. A NaN keeps its code's sign where the format has
/// signed NaN.
const DecodePlan& decodePlan(const ElementFormat& format);

} // namespace octavo::kernels
