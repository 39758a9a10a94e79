// Programs that run on any number of items, which is what a program leaves open: the first axis of
// what it is given, a batch most often.
#pragma once

#include "octavo/Conversion/Kernels/ItemCode.h"
#include "octavo/Conversion/Steps/Lowering.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace octavo::conversion {

/// A function that was lowered for so many items, and what was compared for it.
struct LoweredItems {
  Lowered lowered;
  std::int64_t items;
  std::vector<Comparison> compared;
};

/// Makes `one` the program of any number of items, at least `fewest`. `other` is the same function
/// for another number of them (ItemPair). All that the two are not equal in must be numbers of
/// rows, products of batches, bytes of slots and extents of arguments and results that are the same
/// number for each item, which is what a run multiplies, and numbers in kernels, which then take
/// theirs from how many items there are. If there is more, says what, and leaves neither of use.
std::optional<std::string> openItems(LoweredItems& one, LoweredItems& other, std::int64_t fewest);

} // namespace octavo::conversion
