// Dequantization of scaled tensors to f32: the bits of numerics::dequantize; NaNs may differ in
// their bits.
#pragma once

#include "octavo/Kernels/Execution.h"
#include "octavo/Numerics/Scaled.h"

#include <cstdint>
#include <span>

namespace octavo::kernels {

using numerics::ScaledType;

/// Writes the values of a row-major scaled tensor. `codes` has one byte per element, `scales` one
/// code per block in containers of type.scale's bytes(), as quantize writes them. `outer` is 1 if
/// the type has no outer scale.
void dequantize(const std::uint8_t* codes, const void* scales, float outer,
                std::span<const std::int64_t> shape, const ScaledType& type, float* values,
                const Execution& execution = {});

} // namespace octavo::kernels
