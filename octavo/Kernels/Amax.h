// The largest magnitude of a tensor.
#pragma once

#include "octavo/Kernels/Execution.h"

namespace octavo::kernels {

/// The largest |x| of `n` elements of `type`, as f32; 0 if n is 0; NaN if an element is NaN.
float amax(WideType type, const void* values, std::size_t n, const Execution& execution = {});

} // namespace octavo::kernels
