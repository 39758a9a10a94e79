// Windows that are all of an axis up to each place, or from it on: running sums and products.
#pragma once

#include "octavo/Dialect/StableHLO/Windows.h"

#include <optional>

namespace octavo::conversion {

struct Running {
  std::int64_t axis;
  bool isReversed; ///< from each place on
  bool isProduct;
};

/// What is made along an axis in one pass, where windows would be gone through for each place; for
/// numbers of whole bytes, by one addition or multiplication that starts from 0 or 1.
std::optional<Running> runningOf(stablehlo::ReduceWindowOp op);

} // namespace octavo::conversion
