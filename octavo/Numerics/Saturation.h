// Detection of values that a quantization saturates.
#pragma once

#include "octavo/Numerics/Scaled.h"

#include <cstdint>

namespace octavo::numerics {

/// Whether the finite value `x` saturates under the scale (S10), divided as in quantizeElement.
bool isSaturated(const ScaledType& type, std::uint32_t scaleCode, float outer, float x,
                 const QuantizeOptions& options);

} // namespace octavo::numerics
