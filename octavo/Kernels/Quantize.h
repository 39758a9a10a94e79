// Tensors of f32 to scaled tensors along any axes: numerics::quantize, bit for bit.
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
  float outer = 1.0f;         ///< the outer scale; 1 where the type has none
  float outerInverse = 1.0f;  ///< numerics::OuterScale::inverse
  std::int64_t nonFinite = 0; ///< NaN and Inf inputs; what was counted where refused
  std::optional<NonFiniteInput>
      refused; ///< set under NonFinite::Error; the outputs are unspecified
};

/// Quantizes a row-major tensor. `codes` takes one code an element, `scales` one code a block, in
/// containers of type.scale's bytes(), row-major on the grid of format::scaleShape. Stochastic
/// rounding takes one number an element from `randomBits`, which is otherwise empty. The memory it
/// takes for itself does not grow with the tensor.
QuantizeReport quantize(const float* values, std::span<const std::int64_t> shape,
                        const ScaledType& type, const QuantizeOptions& options, std::uint8_t* codes,
                        void* scales, std::span<const std::uint32_t> randomBits = {},
                        const Execution& execution = {});

/// The same for a piece of a larger tensor, of which `amax` is the largest |x|: it decides the
/// outer scale, or, of a type without one, the scale of every block. A piece then has the codes and
/// scales that it has in the whole tensor.
QuantizeReport quantizePiece(const float* values, std::span<const std::int64_t> shape,
                             const ScaledType& type, const QuantizeOptions& options, float amax,
                             std::uint8_t* codes, void* scales, const Execution& execution = {});

/// The same with stochastic rounding whose numbers come from a stream: element i (row-major) takes
/// number i, whatever the threads and the instruction set (N11).
QuantizeReport quantizeSeeded(const float* values, std::span<const std::int64_t> shape,
                              const ScaledType& type, const QuantizeOptions& options,
                              std::uint8_t* codes, void* scales,
                              const numerics::RandomStream& stream,
                              const Execution& execution = {});

/// The same under an outer scale that is given (as a static one, or that of the tensor of which
/// `values` is a part). The type has an outer scale.
QuantizeReport quantizeUnder(const numerics::OuterScale& outer, const float* values,
                             std::span<const std::int64_t> shape, const ScaledType& type,
                             const QuantizeOptions& options, std::uint8_t* codes, void* scales,
                             std::span<const std::uint32_t> randomBits = {},
                             const Execution& execution = {});

} // namespace octavo::kernels
