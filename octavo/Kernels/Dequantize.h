// Scaled tensors to f32: numerics::dequantize, bit for bit (a NaN is a NaN).
#pragma once

#include "octavo/Kernels/Execution.h"
#include "octavo/Numerics/Scaled.h"

#include <cstdint>
#include <span>

namespace octavo::kernels {

using numerics::ScaledType;

/// The values of a row-major scaled tensor: one code an element, one code a block in containers of
/// type.scale's bytes(), as quantize writes them. `outer` is 1 where the type has no outer scale.
void dequantize(const std::uint8_t* codes, const void* scales, float outer,
                std::span<const std::int64_t> shape, const ScaledType& type, float* values,
                const Execution& execution = {});

} // namespace octavo::kernels
