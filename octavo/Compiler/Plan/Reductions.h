// Rewrites reductions, windows and sorts into forms that kernels compute well.
#pragma once

#include "mlir/IR/Block.h"

namespace octavo::compiler {

/// Splits a max, min, and or or reduction of a whole tensor in two: each row first, then the rows'
/// results. The result is the same, as the order does not matter. Rows can be split over threads
/// and computed by the kernel that makes them, so that an amax becomes part of a product's
/// epilogue.
void reduceByRows(mlir::Block& block);

/// Adds an operand for each scalar that the body of a reduction, window or sort captures: a tensor
/// that has the scalar everywhere. The body reads its element instead.
void takeCaptured(mlir::Block& block);

} // namespace octavo::compiler
