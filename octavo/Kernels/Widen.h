// Wide elements to f32 and back: bf16, f16, f32 itself.
#pragma once

#include "octavo/Kernels/WideMemory.h"

#include <cstddef>

namespace octavo::kernels {

/// `n` elements of `type`, at any address, to f32. A NaN stays one with its sign.
void widen(WideType type, const void* values, float* to, std::size_t n);

/// `n` f32 to elements of `type`, at any address, ties to even. A finite value beyond the largest
/// of `type` becomes infinite; the result says how many did.
std::size_t narrow(WideType type, const float* values, void* to, std::size_t n);

} // namespace octavo::kernels
