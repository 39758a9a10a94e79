// Rewrites dots whose weight is gathered from a stack by an array of indices, as the experts of
// each token: each gathered slice becomes the right side of one product of a batch.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace octavo::compiler {

/// Rewrites each dot that has a side gathered from a stack by indices:
/// - The free axes along which the indices select slices become batch axes.
/// - If the left side is the gathered one, the sides change places.
///
/// Each product of the batch then reads its slice from the stack (IndexedSlices.h), without a copy.
/// The sums are the same, in the same order.
void batchChoices(mlir::ModuleOp module);

} // namespace octavo::compiler
