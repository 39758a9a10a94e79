// Conversion of bf16, f16 and f32 arrays to f32 and back.
#pragma once

#include "octavo/Kernels/WideMemory.h"

#include <cstddef>

namespace octavo::kernels {

/// Converts `n` elements of `type`, at any address, to f32. A NaN stays NaN and keeps its sign.
void widen(WideType type, const void* values, float* to, std::size_t n);

/// Rounds `n` f32 values to `type`, at any address, ties to even. A finite value beyond the largest
/// of `type` becomes infinite. Returns the number of such values.
std::size_t narrow(WideType type, const float* values, void* to, std::size_t n);

} // namespace octavo::kernels
