// Start indices of slices and updates that the program computes.
#pragma once

#include "octavo/Program/Steps/Step.h"

#include <algorithm>
#include <cstring>

namespace octavo::program {

/// An integer in a slot, or one of several consecutive integers. `of` clamps integer `number` to
/// [0, last].
struct StartIndex {
  Slot slot;
  int bytes = 4;
  bool isUnsigned = false;

  std::int64_t of(const Frame& frame, std::int64_t last, std::int64_t number = 0) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, frame.at(slot) + number * bytes, static_cast<std::size_t>(bytes));
    const int unused = 64 - 8 * bytes;
    return isUnsigned ? static_cast<std::int64_t>(std::min(bits, static_cast<std::uint64_t>(last)))
                      : std::clamp<std::int64_t>(
                            static_cast<std::int64_t>(bits << unused) >> unused, 0, last);
  }
};

} // namespace octavo::program
