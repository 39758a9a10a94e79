// Values and formats for tests of numerics.
#pragma once

#include "octavo/Format/ElementFormat.h"

#include <limits>

namespace octavo::numerics {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kMax = std::numeric_limits<float>::max();
inline constexpr const format::ElementFormat& kE4m3 = format::element("e4m3fn"); // max 448
inline constexpr const format::ElementFormat& kE5m2 = format::element("e5m2");   // max 57344

} // namespace octavo::numerics
