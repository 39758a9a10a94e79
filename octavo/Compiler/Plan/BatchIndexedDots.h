// Dots of slices that an array of indices takes from a stack, as the experts of each token, in the
// form in which each slice is the right side of one product.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace octavo::compiler {

/// Has the free axes of right sides along which indices choose slices be batch axes, and left sides
/// that are such slices be right sides: every slice is then that of one product of a batch, which
/// takes it from the stack (IndexedSlices.h), and none is copied. The sums are the same, in the
/// same order.
void batchChoices(mlir::ModuleOp module);

} // namespace octavo::compiler
