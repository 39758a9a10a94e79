// The processor features that kernels need.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace octavo::program {

/// The `features`, by LLVM's names, that this processor or system lacks. Features that the table
/// here does not contain, which numeric loops do not use, count as present.
std::vector<std::string> missingFeatures(std::span<const std::string> features);

} // namespace octavo::program
