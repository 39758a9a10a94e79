// Dots whose weight is on their left, as `w @ x` of the rows of a batch.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace octavo::compiler {

/// Has sides of dots change places where the left one comes again in other runs and the right one
/// does not: right sides are packed once, left ones in each run. The sums are the same, in the same
/// order (rules D3 and P10).
void turnDots(mlir::ModuleOp module);

} // namespace octavo::compiler
