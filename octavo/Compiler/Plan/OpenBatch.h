// Programs that accept any batch size: the size of an axis that the program leaves open, most often
// the first axis of its arguments.
#pragma once

#include "octavo/Compiler/Kernels/BatchCode.h"
#include "octavo/Compiler/Plan/Lowering.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace octavo::compiler {

/// A function that was lowered for one batch size, and the comparisons that lowering made for it.
struct LoweredItems {
  Lowered lowered;
  std::int64_t items; ///< the batch size
  std::vector<Comparison> compared;
};

/// Makes `all.front()` the program of every batch size from `fewest` on, or from a larger bound if
/// a comparison or a kernel needs it (Program::items, kMostFewest). The others are the same
/// function for other batch sizes (ItemCounts). Where they differ, in steps or in kernels, must be
/// numbers that a BatchExtent gives. On failure returns the reason, and none of the programs can be
/// used.
std::optional<std::string> openItems(llvm::MutableArrayRef<LoweredItems> all, std::int64_t fewest);

} // namespace octavo::compiler
