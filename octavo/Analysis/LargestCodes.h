// The codes that values too large for their scale become.
#pragma once

#include "octavo/Numerics/Conversion.h"

#include <array>
#include <cmath>

namespace octavo::analysis {

/// By code: whether its value is of the largest magnitude, infinite or NaN.
inline std::array<bool, 256> largestCodes(const format::ElementFormat& element) {
  std::array<bool, 256> isLargest{};
  for (std::uint32_t code = 0; code < element.codeCount(); ++code)
    isLargest[code] = !(std::abs(numerics::decode(element, code)) < numerics::maxValue(element));
  return isLargest;
}

} // namespace octavo::analysis
