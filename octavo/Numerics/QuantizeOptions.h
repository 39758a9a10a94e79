// How a tensor is quantized: every setting in which the libraries that write scaled formats differ.
// docs/semantics.md (S3 to S16) states each; octavo/Numerics/Preset.h has the rows of the owners.
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

/// What a NaN or an infinity in the input of a quantization does. A scale in ScaleCorners comes
/// before what is said here.
enum class NonFinite : std::uint8_t {
  Error,     ///< the quantization is refused, with the index of the first
  Propagate, ///< the block's scale is NaN, so all of its values are (OCP MX 5.1); its codes are 0
  Saturate,  ///< Inf counts as the largest f32 for amax and saturates; NaN still propagates
  SkipNan,   ///< as Saturate, but NaN does not count for amax and becomes the element's positive
             ///< NaN, or its largest value
};
std::string_view nonFiniteName(NonFinite policy);
std::optional<NonFinite> findNonFinite(std::string_view name);
/// All names, in the order of the enumeration.
std::vector<std::string> nonFiniteNames();

/// Whether the quantizer may produce the code -2^7 of INT8 (OCP MX 5.3.4 leaves it open).
enum class Int8Range : std::uint8_t {
  Symmetric, ///< -127..127: values below -127/64 saturate
  Full,      ///< -128..127
};

/// A value of the scale format that a setting names. Two are equal if their bits are, so that NaN
/// is equal to itself.
struct GivenScale {
  float value;
  friend constexpr bool operator==(GivenScale a, GivenScale b) {
    return std::bit_cast<std::uint32_t>(a.value) == std::bit_cast<std::uint32_t>(b.value);
  }
};

/// Scales of blocks that no rule decides, or decides otherwise: values that the scale format has. A
/// scale that is NaN makes the block's element codes 0.
struct ScaleCorners {
  std::optional<GivenScale> zero = {};      ///< amax is 0; else the smallest power of two, or 1
  std::optional<GivenScale> nan = {};       ///< the block has a NaN
  std::optional<GivenScale> infinite = {};  ///< the block has an infinity and no NaN
  std::optional<GivenScale> pastRange = {}; ///< `even` rounds a finite amax to 2^128; else as S4
  std::optional<GivenScale> underflow = {}; ///< the rule's result rounds to 0; else `least`
  std::optional<GivenScale> least = {}; ///< smaller results become it; else the smallest positive
  /// Stands for `zero` and `underflow`: the epsilon of the input's type (2^-23, bf16 2^-7, f16
  /// 2^-10).
  bool inputEpsilon = false;

  friend constexpr bool operator==(const ScaleCorners&, const ScaleCorners&) = default;
};

/// Which values a scale format with a significand may hold.
enum class ScaleValues : std::uint8_t {
  All,         ///< the rule is Nearest, whatever is asked for, but for roundsScaleUp
  PowersOfTwo, ///< f32 scales only: 2^e of the rule, -127 <= e <= 127 (DeepSeek's ue8m0 in f32)
};

/// The f32 arithmetic between amax and the scale, `max` the element's largest value, `outer` the
/// outer scale and g its inverse. Every operation is rounded to f32.
enum class BlockRatio : std::uint8_t {
  Standard,      ///< amax / max / outer; RoundUp: amax * (1 / max); Nearest: amax / 2^emax
  Quotient,      ///< RoundUp, Nearest: amax / max
  JointQuotient, ///< amax / (max * outer)
  OuterFirst,    ///< amax / outer / max
  InverseLast,   ///< amax / max * g
  InverseFirst,  ///< amax * (g * (1 / max)), at most the largest f32
  Inverted,      ///< 1 / (max / amax), the inner quotient at most the largest f32
};

/// Where the exponent of a power-of-two scale is read, under the rules Floor, Ceil and RoundUp.
enum class ExponentForm : std::uint8_t {
  Bits, ///< on the bits of amax or of its quotient: exact
  Log2, ///< in its log2, rounded to f32, which is then rounded down (Floor) or up
};

/// How the outer scale comes from amax of the tensor; p = max of element * max of scale.
enum class OuterForm : std::uint8_t {
  Quotient,            ///< amax / p
  Inverse,             ///< g = p / amax, at most the largest f32; the outer scale is 1 / g
  InverseOfReciprocal, ///< g = (1 / amax) * p, 1 where that is infinite; the outer scale is 1 / g
  One,                 ///< 1, whatever amax is: one level of scales
};

/// How a value meets a scale s that is not a power of two alone: f32, every operation rounded.
enum class QuotientForm : std::uint8_t {
  Divided,           ///< x / (s * outer)
  DividedByQuotient, ///< x / (s / g)
  Successive,        ///< x / outer / s
  TimesInverse,      ///< x * (1 / (s * (1 / g))), the factor at most the largest f32
  TimesQuotient,     ///< x * (1 / outer / s)
  TimesInverted,     ///< x * (max / amax), where the scale is BlockRatio::Inverted
};

/// What sign a zero gets, in element formats that have -0.
enum class ZeroSign : std::uint8_t {
  Kept,
  Positive,        ///< quotients of 0 (rounded to f32) are +0
  Negative,        ///< they are -0
  PositiveRounded, ///< every element of 0 is +0, those of values that round to 0 too
};

/// What is computed in the input's type: every operation rounded to f32, then to that type. What
/// meets an f32 of another origin (the outer scale, its inverse) is not.
struct InputArithmetic {
  bool outer = false;    ///< the operations of OuterForm
  bool ratio = false;    ///< those of BlockRatio on amax alone, and the logarithm of ExponentForm
  bool quotient = false; ///< the quotient that is rounded to the element, where it is one in f32

  friend constexpr bool operator==(const InputArithmetic&, const InputArithmetic&) = default;
};

/// How a tensor is quantized. Overflow of elements saturates unless said otherwise (OCP MX 6.3).
struct QuantizeOptions {
  ScaleRule rule = ScaleRule::Floor;
  Rounding rounding = Rounding::TiesToEven;
  Overflow overflow = Overflow::Saturate;
  NonFinite nonFinite = NonFinite::Error;
  Int8Range int8 = Int8Range::Symmetric;
  ScaleCorners corners = {};
  /// Significand bits below the leading one that ScaleRule::Even rounds amax to; the element's own
  /// if not given. At most 22.
  std::optional<std::uint8_t> evenBits = {};
  float leastAmax = 0; ///< a smaller amax counts as this; >= 0
  /// Stands for the amax of the tensor where one scale is of all of it: an outer one, or that of
  /// the only block. Finite, >= 0.
  std::optional<float> amax = {};
  ScaleValues scaleValues = ScaleValues::All;
  BlockRatio ratio = BlockRatio::Standard;
  ExponentForm exponent = ExponentForm::Bits;
  OuterForm outer = OuterForm::Quotient;
  QuotientForm quotient = QuotientForm::Divided;
  ZeroSign zeroSign = ZeroSign::Kept;
  InputArithmetic inInputType = {};
  /// The type that the values come in, before they are f32: f32, bf16 or f16. Not a choice: callers
  /// say what they have.
  const ElementFormat* input = &format::element("f32");

  friend constexpr bool operator==(const QuantizeOptions&, const QuantizeOptions&) = default;
};

} // namespace octavo::numerics
