// The codes that values become which are too large for their scale.
#pragma once

#include "octavo/Numerics/Conversion.h"

#include <array>
#include <cmath>

namespace octavo::analysis {

/// Whether a code is one of the largest magnitude, an infinity or NaN, for each code.
inline std::array<bool, 256> largestCodes(const format::ElementFormat& element) {
  std::array<bool, 256> isLargest{};
  for (std::uint32_t code = 0; code < element.codeCount(); ++code)
    isLargest[code] = !(std::abs(numerics::decode(element, code)) < numerics::maxValue(element));
  return isLargest;
}

} // namespace octavo::analysis
