// Scaled tensors, scalar: the scale of a block, quantize, dequantize. From OCP MX 1.0, sections 5
// and 6.3, and the owners' rules in docs/semantics.md.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/Conversion.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace octavo::numerics {

using format::ScaledFormat;
using format::ScaleRule;

/// What a NaN or an infinity in the input of a quantization does.
enum class NonFinite : std::uint8_t {
  Error,      ///< the quantization is refused, with the index of the first
  Propagate,  ///< the block's scale is NaN, so all of its values are (OCP MX 5.1); its codes are 0
  Saturate,   ///< Inf counts as the largest f32 for amax and saturates; NaN still propagates
};
std::string_view nonFiniteName(NonFinite policy);
std::optional<NonFinite> findNonFinite(std::string_view name);

/// Whether the quantizer may produce the code -2^7 of INT8 (OCP MX 5.3.4 leaves it open).
enum class Int8Range : std::uint8_t {
  Symmetric,  ///< -127..127: values below -127/64 saturate
  Full,       ///< -128..127
};

/// How a tensor is quantized. Overflow of elements saturates unless said otherwise (OCP MX 6.3).
struct QuantizeOptions {
  ScaleRule rule = ScaleRule::Floor;
  Rounding rounding = Rounding::TiesToEven;
  Overflow overflow = Overflow::Saturate;
  NonFinite nonFinite = NonFinite::Error;
  Int8Range int8 = Int8Range::Symmetric;
};

/// Elements and scales of one kind: what `!octavo.scaled` says in the IR, without the shape. The
/// element format is narrow and has a zero; the scale format has a NaN and at most 32 bits; an outer
/// scale goes with a narrow scale format.
struct ScaledType {
  const ElementFormat* element;
  const ElementFormat* scale;
  std::vector<std::int64_t> block;  ///< one extent an axis, all >= 1
  bool hasOuterScale = false;

  friend bool operator==(const ScaledType& a, const ScaledType& b) = default;
};

/// A scaled tensor: row-major codes, one element code a byte; value = element * scale * outer.
struct ScaledTensor {
  std::vector<std::int64_t> shape;
  ScaledType type;
  std::vector<std::uint8_t> elements;
  std::vector<std::uint32_t> scales;  ///< codes of type.scale; shape is format::scaleShape
  float outer = 1.0f;                 ///< the outer scale; 1 where the type has none
};

/// The code of the scale for a block of amax `amax` (finite, >= 0, a value of f32). amax 0: the
/// smallest power of two for E8M0 (byte 0), else 1. A scale that would be 0 becomes the smallest
/// positive one; one beyond the largest, the largest. `rule` applies to E8M0, which takes no outer
/// scale into account; a scale format with a significand takes Nearest: amax / max / outer, formed
/// in f32, rounded to nearest, ties to even.
std::uint32_t scaleCode(const ElementFormat& element, const ElementFormat& scale, ScaleRule rule,
                        float amax, float outer = 1.0f);

/// The outer scale of a tensor of amax `amax`: amax / (max of element * max of scale), in f32; 1 for
/// amax 0 or a quotient of 0.
float outerScale(const ElementFormat& element, const ElementFormat& scale, float amax);

/// The code of x under scale `scaleCode`. E8M0 without an outer scale: x / scale is exact. Otherwise
/// x is divided in f32 by the f32 product scale * outer, or by the smallest positive f32 where that
/// product is 0. Then one rounding to the element. Infinite x saturates.
std::uint8_t quantizeElement(const ScaledType& type, std::uint32_t scaleCode, float outer, float x,
                             const QuantizeOptions& options, std::uint32_t randomBits = 0);

/// The value of an element under its scale, element * scale * outer, rounded once (ties to even) to
/// f32. NaN if the scale is NaN, whatever the element (OCP MX 5.1).
float dequantizeElement(const ScaledType& type, std::uint32_t scaleCode, float outer,
                        std::uint8_t element);

/// Where a quantization met a value that its policy refuses.
struct NonFiniteInput {
  std::int64_t index;  ///< row-major
  float value;
};

struct QuantizeResult {
  ScaledTensor tensor;
  std::int64_t saturated = 0;              ///< finite inputs that overflowed the element format
  std::int64_t nonFinite = 0;              ///< NaN and Inf inputs
  std::optional<NonFiniteInput> refused;   ///< set under NonFinite::Error; `tensor` is then empty
};

/// Quantizes a row-major tensor. Rank 0 has one block. Stochastic rounding takes one number an
/// element from `randomBits`, which is otherwise empty.
QuantizeResult quantize(std::span<const float> values, std::span<const std::int64_t> shape,
                        const ScaledType& type, const QuantizeOptions& options,
                        std::span<const std::uint32_t> randomBits = {});

/// The values, row-major, f32.
std::vector<float> dequantize(const ScaledTensor& tensor);

/// Row-major index of the block that the row-major element index `i` lies in.
std::int64_t blockIndex(std::span<const std::int64_t> shape, std::span<const std::int64_t> block,
                        std::int64_t i);

} // namespace octavo::numerics
