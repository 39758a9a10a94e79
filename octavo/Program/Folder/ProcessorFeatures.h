// Whether this processor has what kernels were compiled for.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace octavo::program {

/// Those of the features, by LLVM's names, that this processor and its system lack. Of those that
/// no table here has, which loops over numbers do not use, nothing is known.
std::vector<std::string> missingFeatures(std::span<const std::string> features);

} // namespace octavo::program
