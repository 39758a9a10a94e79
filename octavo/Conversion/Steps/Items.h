// Programs that run on any number of items, which is what a program leaves open: the first axis of
// what it is given, a batch most often.
#pragma once

#include "octavo/Conversion/Steps/Lowering.h"

#include <cstdint>
#include <optional>
#include <string>

namespace octavo::conversion {

/// A function that was lowered for so many items.
struct LoweredItems {
  Lowered lowered;
  std::int64_t items;
};

/// Makes `one` the program of any number of items, at least one. `other` is the same function for
/// another number of them; both are primes, which no extent of the function has for a factor
/// otherwise. All that the two are not equal in must be numbers of rows, products of batches, bytes
/// of slots and extents of arguments and results that are the same number for each item; that is
/// what a run multiplies. Code, which is equal, then computes a row whatever their number is.
/// If there is more, says what, and leaves neither of use.
std::optional<std::string> openItems(LoweredItems& one, LoweredItems& other);

} // namespace octavo::conversion
