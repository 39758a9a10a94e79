// Membership in a list of axes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace octavo::interpreter {

/// Whether `axes` has `axis`.
inline bool contains(std::span<const std::int64_t> axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

} // namespace octavo::interpreter
