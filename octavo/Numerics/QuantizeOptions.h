// Settings of a quantization: every choice in which libraries that write scaled formats differ.
// docs/semantics.md (S3 to S16) defines each; Preset.h lists the settings of each library.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/Conversion.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::numerics {

using format::ScaledFormat;
using format::ScaleRule;

/// The effect of NaN and infinity in the input of a quantization. A scale given in ScaleCorners
/// takes precedence.
enum class NonFinite : std::uint8_t {
  Error,     ///< the quantization fails and reports the first such value
  Propagate, ///< the block's scale is NaN and its codes are 0, so all its values are NaN (MX 5.1)
  Saturate,  ///< Inf counts as the largest f32 for amax and saturates; NaN still propagates
  SkipNan,   ///< as Saturate, but NaN does not count for amax and becomes the positive NaN of the
             ///< element format, or its largest value
};
std::string_view nonFiniteName(NonFinite policy);
std::optional<NonFinite> findNonFinite(std::string_view name);
/// All names, in the order of the enumeration.
std::vector<std::string> nonFiniteNames();

/// Whether the quantizer may produce INT8's code -128. OCP MX 5.3.4 leaves the choice open.
enum class Int8Range : std::uint8_t {
  Symmetric, ///< -127..127: values below -127/64 saturate
  Full,      ///< -128..127
};

/// A scale value in a setting. Two are equal if their bits are equal, so NaN equals itself.
struct GivenScale {
  float value;
  friend constexpr bool operator==(GivenScale a, GivenScale b) {
    return std::bit_cast<std::uint32_t>(a.value) == std::bit_cast<std::uint32_t>(b.value);
  }
};

/// Scales that replace the rule's result for special blocks. Each is a value of the scale format. A
/// NaN scale makes the block's element codes 0. A corner that is not given has the default named
/// after "else".
struct ScaleCorners {
  std::optional<GivenScale> zero = {};      ///< amax is 0; else the smallest power of two, or 1
  std::optional<GivenScale> nan = {};       ///< the block has a NaN
  std::optional<GivenScale> infinite = {};  ///< the block has an infinity and no NaN
  std::optional<GivenScale> pastRange = {}; ///< Even rounds a finite amax to 2^128; else as S4
  std::optional<GivenScale> underflow = {}; ///< the rule's result rounds to 0; else `least`
  std::optional<GivenScale> least = {};     ///< lower bound of results; else the smallest positive
  /// Replaces `zero` and `underflow` by the epsilon of the input type: f32 2^-23, bf16 2^-7, f16
  /// 2^-10.
  bool inputEpsilon = false;

  friend constexpr bool operator==(const ScaleCorners&, const ScaleCorners&) = default;
};

/// The values that a scale in a format with a significand may have.
enum class ScaleValues : std::uint8_t {
  All,         ///< the rule is always Nearest; exception: roundsScaleUp
  PowersOfTwo, ///< f32 scales only: 2^e of the rule, -127 <= e <= 127 (DeepSeek's ue8m0 in f32)
};

/// The f32 arithmetic from amax to the scale. `max` is the largest value of the element format,
/// `outer` the outer scale, g its inverse (OuterForm). Every operation is rounded to f32.
enum class BlockRatio : std::uint8_t {
  Standard,      ///< amax / max / outer; RoundUp: amax * (1 / max); Nearest: amax / 2^emax
  Quotient,      ///< RoundUp, Nearest: amax / max
  JointQuotient, ///< amax / (max * outer)
  OuterFirst,    ///< amax / outer / max
  InverseLast,   ///< amax / max * g
  InverseFirst,  ///< amax * (g * (1 / max)), at most the largest f32
  Inverted,      ///< 1 / (max / amax), the inner quotient at most the largest f32
};

/// How the rules Floor, Ceil and RoundUp find the exponent of a power-of-two scale.
enum class ExponentForm : std::uint8_t {
  Bits, ///< from the bits of amax or of its quotient: exact
  Log2, ///< log2 of amax or of its quotient, rounded to f32, then rounded down (Floor) or up
};

/// The arithmetic from the tensor's amax to the outer scale. p is the product of the largest values
/// of the element format and the scale format.
enum class OuterForm : std::uint8_t {
  Quotient,            ///< amax / p
  Inverse,             ///< g = p / amax, at most the largest f32; the outer scale is 1 / g
  InverseOfReciprocal, ///< g = (1 / amax) * p, 1 if that is infinite; the outer scale is 1 / g
  One,                 ///< always 1: one level of scales
};

/// How a value x is divided by a block's scale s, unless s is a power of two without an outer
/// scale. Every operation is rounded to f32.
enum class QuotientForm : std::uint8_t {
  Divided,           ///< x / (s * outer)
  DividedByQuotient, ///< x / (s / g)
  Successive,        ///< x / outer / s
  TimesInverse,      ///< x * (1 / (s * (1 / g))), the factor at most the largest f32
  TimesQuotient,     ///< x * (1 / outer / s)
  TimesInverted,     ///< x * (max / amax); goes with BlockRatio::Inverted
};

/// The sign of zero elements, in element formats that have -0.
enum class ZeroSign : std::uint8_t {
  Kept,
  Positive,        ///< quotients that are 0 in f32 give +0
  Negative,        ///< quotients that are 0 in f32 give -0
  PositiveRounded, ///< every zero element is +0, also if the quotient is not 0 but rounds to it
};

/// Steps that are computed in the input's type: each operation is rounded to f32, then to that
/// type. Operations with an f32 of another origin (the outer scale, its inverse) stay in f32.
struct InputArithmetic {
  bool outer = false;    ///< the operations of OuterForm
  bool ratio = false;    ///< BlockRatio's operations on amax alone, and the log2 of ExponentForm
  bool quotient = false; ///< the quotient that is rounded to the element, if it is formed in f32

  friend constexpr bool operator==(const InputArithmetic&, const InputArithmetic&) = default;
};

/// All settings of a quantization. By default, elements saturate on overflow (OCP MX 6.3).
struct QuantizeOptions {
  ScaleRule rule = ScaleRule::Floor;
  Rounding rounding = Rounding::TiesToEven;
  Overflow overflow = Overflow::Saturate;
  NonFinite nonFinite = NonFinite::Error;
  Int8Range int8 = Int8Range::Symmetric;
  ScaleCorners corners = {};
  /// Trailing significand bits that ScaleRule::Even rounds amax to, at most 22. nullopt: those of
  /// the element format.
  std::optional<std::uint8_t> evenBits = {};
  float leastAmax = 0; ///< lower bound of a block's amax; >= 0
  /// Replaces the tensor's amax in a scale of the whole tensor: an outer scale, or the scale of the
  /// only block. Finite, >= 0.
  std::optional<float> amax = {};
  ScaleValues scaleValues = ScaleValues::All;
  BlockRatio ratio = BlockRatio::Standard;
  ExponentForm exponent = ExponentForm::Bits;
  OuterForm outer = OuterForm::Quotient;
  QuotientForm quotient = QuotientForm::Divided;
  ZeroSign zeroSign = ZeroSign::Kept;
  InputArithmetic inInputType = {};
  /// The type of the values before their conversion to f32: f32, bf16 or f16. The caller states the
  /// type of its input here; presets do not choose it.
  const ElementFormat* input = &format::element("f32");

  friend constexpr bool operator==(const QuantizeOptions&, const QuantizeOptions&) = default;
};

} // namespace octavo::numerics
