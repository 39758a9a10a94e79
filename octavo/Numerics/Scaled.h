// Scalar specification of scaled tensors: the scale of a block, quantize, dequantize. It follows
// OCP MX 1.0, sections 5 and 6.3, and the rules of other libraries in docs/semantics.md.
#pragma once

#include "octavo/Numerics/QuantizeOptions.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace octavo::numerics {

/// The type of a scaled tensor without its shape: the parameters of `!octavo.scaled` in IR. The
/// element format is narrow and has a zero. The scale format has a NaN and at most 32 bits. Only a
/// narrow scale format may have an outer scale.
struct ScaledType {
  const ElementFormat* element;
  const ElementFormat* scale;
  std::vector<std::int64_t> block; ///< the block's extent on each axis, >= 1
  bool hasOuterScale = false;

  friend bool operator==(const ScaledType& a, const ScaledType& b) = default;
};

/// A scaled tensor: row-major codes, one element code per byte; value = element * scale * outer.
struct ScaledTensor {
  std::vector<std::int64_t> shape;
  ScaledType type;
  std::vector<std::uint8_t> elements;
  std::vector<std::uint32_t> scales; ///< codes of type.scale; shape is format::scaleShape
  float outer = 1.0f;                ///< the outer scale; 1 if the type has none
};

/// What the scale of a block depends on.
struct BlockFacts {
  float amax = 0; ///< of the block's finite values
  bool hasNan = false;
  bool hasInf = false;

  constexpr void add(float value) {
    const float magnitude = value < 0 ? -value : value;
    hasNan |= value != value;
    hasInf |= magnitude > std::numeric_limits<float>::max();
    if (magnitude <= std::numeric_limits<float>::max() && magnitude > amax)
      amax = magnitude;
  }
};

/// Whether the scale of `block` is NaN because of a NaN or Inf in it. Such a block does not count
/// for the tensor's amax.
bool isPoisoned(const BlockFacts& block, const QuantizeOptions& options);

/// Whether the codes of a part of a tensor depend on the rest of the tensor, through its amax or
/// through a NaN or Inf that changes a shared scale.
bool needsWholeTensor(const QuantizeOptions& options, bool hasOuterScale);

/// The outer scale of a tensor, and its inverse as libraries with an inverse OuterForm store it.
struct OuterScale {
  float value = 1.0f;
  float inverse = 1.0f; ///< g of OuterForm; 1 under OuterForm::Quotient
};
/// The outer scale of a tensor of amax `amax` under options.outer.
OuterScale outerScale(const ElementFormat& element, const ElementFormat& scale, float amax,
                      const QuantizeOptions& options);

/// Whether scales of a narrow format with a significand are rounded up instead of to nearest: under
/// RoundUp, if elements are rounded stochastically. Under a scale that is rounded down, the block's
/// largest element would saturate, and its expected value would not be its value (S5).
bool roundsScaleUp(const ElementFormat& scale, const QuantizeOptions& options);

/// ScaleCorners as codes of a scale format, with defaults filled in. nullopt: no corner is given.
struct CornerCodes {
  std::uint32_t zero, underflow, least;
  std::optional<std::uint32_t> nan, infinite, pastRange;
};
CornerCodes cornerCodes(const ElementFormat& scale, const QuantizeOptions& options);

/// How a value x is divided by its scale; `factor` is that of BlockScale.
enum class Quotient : std::uint8_t {
  Exact,      ///< x / 2^e, not rounded
  Divided,    ///< x / factor in f32
  Multiplied, ///< x * factor in f32
  Successive, ///< x / outer / factor in f32; 0 / 0 is 0
};
Quotient quotientOf(const ScaledType& type, const QuantizeOptions& options);

/// The scale of a block, and the factor that its values are divided or multiplied by (Exact: 0).
struct BlockScale {
  std::uint32_t code;
  float factor;
};
BlockScale blockScale(const ScaledType& type, const QuantizeOptions& options,
                      const BlockFacts& block, const OuterScale& outer);

/// The scale code of a block of amax `amax` (finite, >= 0, a value of f32).
///  - amax 0 gives the smallest power of two in E8M0 (byte 0), else 1.
///  - A scale that would be 0 becomes the smallest positive scale; a scale beyond the largest
///    becomes the largest.
///  - `rule` applies to E8M0, which ignores the outer scale. Scale formats with a significand use
///    Nearest: amax / max / outer in f32, rounded to nearest, ties to even.
std::uint32_t scaleCode(const ElementFormat& element, const ElementFormat& scale, ScaleRule rule,
                        float amax, float outer = 1.0f);

/// The outer scale of a tensor of amax `amax`: amax / (max of element * max of scale), in f32; 1
/// for amax 0 or a quotient of 0.
float outerScale(const ElementFormat& element, const ElementFormat& scale, float amax);

/// The code of x under scale `scaleCode`. x / scale is exact for E8M0 without an outer scale.
/// Otherwise x is divided in f32 by the f32 product scale * outer, or by the smallest positive f32
/// if that product is 0. The quotient is rounded once to the element. Infinite x saturates.
std::uint8_t quantizeElement(const ScaledType& type, std::uint32_t scaleCode, float outer, float x,
                             const QuantizeOptions& options, std::uint32_t randomBits = 0);

/// The value of an element under its scale, element * scale * outer, rounded once (ties to even) to
/// f32. NaN if the scale is NaN, whatever the element (OCP MX 5.1).
float dequantizeElement(const ScaledType& type, std::uint32_t scaleCode, float outer,
                        std::uint8_t element);

/// The first value that NonFinite::Error refuses.
struct NonFiniteInput {
  std::int64_t index; ///< row-major
  float value;
};

struct QuantizeResult {
  ScaledTensor tensor;
  std::int64_t saturated = 0;            ///< finite inputs that overflowed the element format
  std::int64_t nonFinite = 0;            ///< NaN and Inf inputs
  std::optional<NonFiniteInput> refused; ///< set under NonFinite::Error; `tensor` is then empty
  float outerInverse = 1.0f;             ///< OuterScale::inverse
};

/// Quantizes a row-major tensor. Rank 0 has one block. For stochastic rounding, `randomBits` has
/// one number per element; otherwise it is empty.
QuantizeResult quantize(std::span<const float> values, std::span<const std::int64_t> shape,
                        const ScaledType& type, const QuantizeOptions& options,
                        std::span<const std::uint32_t> randomBits = {});

/// The values of a scaled tensor, row-major.
std::vector<float> dequantize(const ScaledTensor& tensor);

/// Row-major index of the block that contains the element with row-major index `i`.
std::int64_t blockIndex(std::span<const std::int64_t> shape, std::span<const std::int64_t> block,
                        std::int64_t i);

} // namespace octavo::numerics
