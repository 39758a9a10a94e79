// The code of a kernel for any number of items, from what it is for two numbers of them.
#pragma once

#include "octavo/Conversion/Kernels/Index.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace octavo::conversion {

/// Two numbers of items for which something was lowered: primes that no extent of it has for a
/// factor otherwise, and so far apart that what is rounded on the way, as the half of them or a
/// number of blocks, differs by no multiple of their distance.
struct ItemPair {
  std::int64_t one, other;
};

/// A number that is `factor` for each item, and `fixed` besides.
struct ItemNumber {
  std::int64_t factor, fixed;

  std::int64_t of(std::int64_t items) const { return factor * items + fixed; }
  friend auto operator<=>(const ItemNumber&, const ItemNumber&) = default;
};

/// The number that is `one` and `other` for the two; nothing where it is none, but, as their
/// square, something else of them.
std::optional<ItemNumber> itemNumber(std::int64_t one, std::int64_t other, const ItemPair& items);

/// Whether what was less for the two numbers is less for all from `fewest` on.
bool staysLess(llvm::ArrayRef<Comparison> one, llvm::ArrayRef<Comparison> other,
               const ItemPair& items, std::int64_t fewest);

/// The text of a kernel (KernelCode) that takes how many items there are from behind its arguments,
/// where two texts are the same but for integers that are so many for each item; else nothing.
std::optional<std::string> kernelOfItems(const std::string& one, const std::string& other,
                                         const ItemPair& items);

} // namespace octavo::conversion
