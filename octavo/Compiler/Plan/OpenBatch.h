// Programs that run on any number of items, which is what a program leaves open: the first axis of
// what it is given, a batch most often.
#pragma once

#include "octavo/Compiler/Kernels/BatchCode.h"
#include "octavo/Compiler/Plan/Lowering.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace octavo::compiler {

/// A function that was lowered for so many items, and what was compared for it.
struct LoweredItems {
  Lowered lowered;
  std::int64_t items;
  std::vector<Comparison> compared;
};

/// Makes the first the program of any number of items, at least `fewest`, or some more where it is
/// one of these (Program::items). The others are the same function for other numbers of them
/// (ItemCounts). All that they are not equal in must be numbers of items, which a run computes, in
/// steps and in kernels. If there is more, says what, and leaves none of use.
std::optional<std::string> openItems(llvm::MutableArrayRef<LoweredItems> all, std::int64_t fewest);

} // namespace octavo::compiler
