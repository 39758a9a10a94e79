// The code of a kernel for any number of items, from what it is for some numbers of them.
#pragma once

#include "octavo/Compiler/Kernels/Index.h"
#include "octavo/Program/Steps/BatchExtent.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace octavo::compiler {

using program::BatchExtent;

/// Numbers of items for which something was lowered, two or, where something has two axes of items,
/// three: primes that no extent of it has for a factor otherwise, and so far apart that what is
/// rounded on the way, as the half of them or a number of blocks, differs by no multiple of their
/// distances.
using ItemCounts = llvm::ArrayRef<std::int64_t>;

/// The number that has these values for the counts; nothing where it is none, but something else of
/// them. Two of them tell no squares.
std::optional<BatchExtent> itemNumber(llvm::ArrayRef<std::int64_t> values, ItemCounts items);

/// The fewest items from which on all that was less for the counts is less; nothing where there are
/// none.
std::optional<std::int64_t> whereLess(llvm::ArrayRef<std::vector<Comparison>> compared,
                                      ItemCounts items);

/// A kernel (KernelCode) for any number of items in a range, of which it finds how many there are
/// behind its arguments.
struct KernelOfItems {
  std::string text;
  std::int64_t fewest, most; ///< more would take too much of a stack
};

/// Of texts that are the same but for integers that are numbers of items; else nothing.
std::optional<KernelOfItems> kernelOfItems(llvm::ArrayRef<std::string> texts, ItemCounts items);

} // namespace octavo::compiler
