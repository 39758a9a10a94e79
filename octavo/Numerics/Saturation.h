// What a quantization saturates.
#pragma once

#include "octavo/Numerics/Scaled.h"

#include <cstdint>

namespace octavo::numerics {

/// Whether x, finite, is saturated under a scale (S10), divided by it as quantizeElement does.
bool isSaturated(const ScaledType& type, std::uint32_t scaleCode, float outer, float x,
                 const QuantizeOptions& options);

} // namespace octavo::numerics
