// Tells whether one path lies below another.
#pragma once

#include <algorithm>
#include <filesystem>

namespace octavo::checkpoint {

/// Whether `path` is `folder` or lies below it, component by component. Precondition: both are
/// canonical.
inline bool isWithin(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto [end, _] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

} // namespace octavo::checkpoint
