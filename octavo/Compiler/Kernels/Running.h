// Running sums and the like: windows that reach from an end of the axis to each place.
#pragma once

#include "octavo/Dialect/StableHLO/Windows.h"

#include <optional>

namespace octavo::compiler {

/// A window reduction that one pass along an axis computes.
struct Running {
  std::int64_t axis;
  bool isReversed;           ///< from each place to the end
  mlir::Operation* combined; ///< add, multiply, maximum or minimum
};

/// The pass that computes `op`, where a kernel would visit each window. nullopt unless the elements
/// are f32, f64, bf16 or integers of whole bytes, the body is one operation, and the initial value
/// is its identity.
std::optional<Running> runningOf(stablehlo::ReduceWindowOp op);

} // namespace octavo::compiler
