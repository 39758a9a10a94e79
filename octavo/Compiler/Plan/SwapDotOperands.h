// Swaps the sides of dots whose weight is on the left, such as `w @ x`.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace octavo::compiler {

/// Swaps the sides of each dot whose left side recurs and whose right side does not, or recurs as
/// codes while the right side recurs as floats. Right sides are packed once, left sides in each
/// run. The sums are the same, in the same order (rules D3 and P10).
void turnDots(mlir::ModuleOp module);

} // namespace octavo::compiler
