// Reductions in the order that kernels are good at.
#pragma once

#include "mlir/IR/Block.h"

namespace octavo::conversion {

/// Has the greatest or least element of a whole tensor be taken of each row first, then of the
/// rows' ones, where the order changes nothing. Rows are then for all threads to take, and for the
/// kernel that makes them: an amax is a part of the product's epilogue.
void reduceByRows(mlir::Block& block);

} // namespace octavo::conversion
