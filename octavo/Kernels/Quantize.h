// Quantization of f32 tensors to scaled tensors along any axes: the bits of numerics::quantize.
#pragma once

#include "octavo/Kernels/Execution.h"
#include "octavo/Numerics/Philox.h"
#include "octavo/Numerics/Scaled.h"

#include <cstdint>
#include <optional>
#include <span>

namespace octavo::kernels {

using numerics::NonFiniteInput;
using numerics::QuantizeOptions;
using numerics::ScaledType;

struct QuantizeReport {
  float outer = 1.0f;         ///< the outer scale; 1 if the type has none
  float outerInverse = 1.0f;  ///< numerics::OuterScale::inverse
  std::int64_t nonFinite = 0; ///< NaN and Inf inputs; perhaps incomplete if `refused` is set
  std::optional<NonFiniteInput>
      refused; ///< set under NonFinite::Error; the outputs are unspecified
};

/// Quantizes a row-major tensor. `codes` has room for one byte per element, `scales` for one code
/// per block in containers of type.scale's bytes(), row-major on the grid of format::scaleShape.
/// For stochastic rounding, `randomBits` has one number per element; otherwise it is empty. The
/// temporary memory does not grow with the tensor.
QuantizeReport quantize(const float* values, std::span<const std::int64_t> shape,
                        const ScaledType& type, const QuantizeOptions& options, std::uint8_t* codes,
                        void* scales, std::span<const std::uint32_t> randomBits = {},
                        const Execution& execution = {});

/// As quantize, for a piece of a larger tensor whose largest |x| is `amax`. `amax` decides the
/// outer scale, or the scale of every block if the type has no outer scale. The codes and scales
/// are then those of the piece in the whole tensor.
QuantizeReport quantizePiece(const float* values, std::span<const std::int64_t> shape,
                             const ScaledType& type, const QuantizeOptions& options, float amax,
                             std::uint8_t* codes, void* scales, const Execution& execution = {});

/// As quantize, with stochastic rounding whose numbers come from a stream: element i (row-major)
/// uses number i, for any number of threads and any instruction set (N11).
QuantizeReport quantizeSeeded(const float* values, std::span<const std::int64_t> shape,
                              const ScaledType& type, const QuantizeOptions& options,
                              std::uint8_t* codes, void* scales,
                              const numerics::RandomStream& stream,
                              const Execution& execution = {});

/// As quantize, under a given outer scale: a static scale, or the scale of the tensor of which
/// `values` is a part. The type has an outer scale.
QuantizeReport quantizeUnder(const numerics::OuterScale& outer, const float* values,
                             std::span<const std::int64_t> shape, const ScaledType& type,
                             const QuantizeOptions& options, std::uint8_t* codes, void* scales,
                             std::span<const std::uint32_t> randomBits = {},
                             const Execution& execution = {});

} // namespace octavo::kernels
