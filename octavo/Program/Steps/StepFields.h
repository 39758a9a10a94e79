// Helpers for the `fields` functions of several steps.
#pragma once

#include "octavo/Program/Steps/File/ProgramFields.h"

#include <cstdint>
#include <vector>

namespace octavo::program {

using Access = ProgramFields::Access;

inline constexpr std::int64_t kMost = ProgramFields::kMost;
inline constexpr std::int64_t kF32 = sizeof(float);

/// A stride or an offset, which may be negative.
inline void stride(ProgramFields& fields, std::int64_t& value) {
  fields.number(value, -kMost, kMost);
}

inline std::uint64_t bytesOf(ProgramFields& fields, const std::vector<std::int64_t>& shape,
                             std::int64_t width) {
  for (const std::int64_t extent : shape)
    width = static_cast<std::int64_t>(fields.bytes({width, extent}));
  return static_cast<std::uint64_t>(width);
}

} // namespace octavo::program
