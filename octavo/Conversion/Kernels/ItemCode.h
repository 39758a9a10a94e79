// The code of a kernel for any number of items, from what it is for two numbers of them.
#pragma once

#include "octavo/Conversion/Kernels/Index.h"
#include "octavo/Steps/ItemNumber.h"

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

using steps::ItemNumber;

/// The number that is `one` and `other` for the two; nothing where it is none, but, as their
/// square, something else of them.
std::optional<ItemNumber> itemNumber(std::int64_t one, std::int64_t other, const ItemPair& items);

/// The fewest items from which on all that was less for the two numbers is less; nothing where
/// there are none.
std::optional<std::int64_t> whereLess(llvm::ArrayRef<Comparison> one,
                                      llvm::ArrayRef<Comparison> other, const ItemPair& items);

/// A kernel (KernelCode) for any number of items, from the fewest on, of which it finds how many
/// there are behind its arguments.
struct KernelOfItems {
  std::string text;
  std::int64_t fewest;
};

/// Of two texts that are the same but for integers that are so many for each item; else nothing.
std::optional<KernelOfItems> kernelOfItems(const std::string& one, const std::string& other,
                                           const ItemPair& items);

} // namespace octavo::conversion
