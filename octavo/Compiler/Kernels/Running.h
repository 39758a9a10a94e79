// Windows that are all of an axis up to each place, or from it on: running sums and their like.
#pragma once

#include "octavo/Dialect/StableHLO/Windows.h"

#include <optional>

namespace octavo::compiler {

struct Running {
  std::int64_t axis;
  bool isReversed;           ///< from each place on
  mlir::Operation* combined; ///< add, multiply, maximum or minimum
};

/// What is made along an axis in one pass, where windows would be gone through for each place: of
/// f32, f64, bf16 and integers of whole bytes, by one operation from where it begins.
std::optional<Running> runningOf(stablehlo::ReduceWindowOp op);

} // namespace octavo::compiler
