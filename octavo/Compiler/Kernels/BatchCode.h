// Makes the code of a kernel for any batch size from its code for a few batch sizes.
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

/// The batch sizes for which a function was lowered: two, or three if a tensor has two axes of the
/// batch size. They are primes that divide no other extent of the program. They lie so far apart
/// that a rounded quotient (half a batch, a number of blocks) differs by no multiple of their
/// distances.
using ItemCounts = llvm::ArrayRef<std::int64_t>;

/// The extent that has these values for the batch sizes `items`. nullopt: the values are no such
/// polynomial. Two batch sizes cannot determine a square.
std::optional<BatchExtent> itemNumber(llvm::ArrayRef<std::int64_t> values, ItemCounts items);

/// The smallest batch size from which on every comparison that held for `items` holds. nullopt:
/// there is none, or the comparisons differ in number.
std::optional<std::int64_t> whereLess(llvm::ArrayRef<std::vector<Comparison>> compared,
                                      ItemCounts items);

/// A kernel (KernelCode) for any batch size in a range. It loads the batch size from memory behind
/// its arguments.
struct KernelOfItems {
  std::string text;
  std::int64_t fewest, most; ///< batch sizes; larger ones would need too much stack
};

/// The kernel of texts that differ only in integers, each of which is an extent. nullopt: they
/// differ otherwise, or not at all.
std::optional<KernelOfItems> kernelOfItems(llvm::ArrayRef<std::string> texts, ItemCounts items);

} // namespace octavo::compiler
