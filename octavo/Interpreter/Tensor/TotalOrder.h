// The total order of IEEE 754, 5.10, on codes.
#pragma once

#include "octavo/Format/ElementFormat.h"

#include <cstdint>
#include <limits>

namespace octavo::interpreter {

/// The position of a code in the order -NaN, -Inf, ..., -0, +0, ..., Inf, NaN. A NaN is positive if
/// its format gives it no sign.
inline std::int64_t totalOrder(const format::ElementFormat& format, std::uint64_t code) {
  if (format.specials == format::Specials::UnsignedZero && format.isNan(code))
    return std::numeric_limits<std::int64_t>::max();
  const std::uint64_t magnitude = code & ~format.signMask() & format.codeMask();
  const bool isNegative = (code & format.signMask()) != 0;
  return isNegative ? ~static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
}

} // namespace octavo::interpreter
