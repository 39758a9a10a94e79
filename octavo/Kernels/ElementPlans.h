// The constants with which kernels convert to an element format and decode it. Code compiled for
// the baseline computes them from the format's row, so that no instruction-set folder reads the
// row.
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
  std::uint32_t trailing;     ///< trailing significand bits; Integer: bits of the magnitude
  std::uint32_t emin;         ///< biased as in f32; below, the spacing is 2^(emin - 127 - trailing)
  std::uint32_t signBit;      ///< mask of the code's sign bit
  std::uint32_t unsignedZero; ///< 1: a negative zero becomes +0
  /// Magnitude codes by sign: results for a finite value beyond the largest value, and for an
  /// infinite value. Integer: the largest magnitude.
  std::uint32_t finiteLimit[2];
  std::uint32_t infinite[2];
  std::uint32_t nan[2];          ///< whole codes, by the NaN's sign
  std::uint32_t infiniteCode[2]; ///< whole codes of infinite values, by sign
  float limitValue; ///< value of the greater finiteLimit, read as if it were a finite code
};

/// The plan of `conversion` (its randomBits are not used) to a narrow format. The first call makes
/// all plans: for small tensors, making a plan per call would cost too much.
const ConvertPlan& convertPlan(const ElementFormat& format, const Conversion& conversion);

/// Constants of decoding a narrow format to f32.
struct DecodePlan {
  /// The value of each code as bf16, which is exact: low and high bytes in separate tables.
  alignas(64) std::uint8_t low[256];
  alignas(64) std::uint8_t high[256];
  enum class Symmetry : std::uint8_t {
    Periodic, ///< the table has a period of at most 128: the width is below 8
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
  /// Codes that need the table also on Route::Half: magnitudes from firstSpecial up, and
  /// `exception`.
  bool hasSpecials;
  std::uint8_t firstSpecial;
  std::uint8_t exception;
};

/// The decoding plan of a narrow format of the table. A NaN has its code's sign if the format has
/// signed NaN.
const DecodePlan& decodePlan(const ElementFormat& format);

} // namespace octavo::kernels
