// Reductions, and what else has a body on scalars, in the form that kernels are good at.
#pragma once

#include "mlir/IR/Block.h"

namespace octavo::compiler {

/// Has the greatest or least element of a whole tensor be taken of each row first, then of the
/// rows' ones, where the order changes nothing. Rows are then for all threads to take, and for the
/// kernel that makes them: an amax is a part of the product's epilogue.
void reduceByRows(mlir::Block& block);

/// Has bodies of reductions, windows and sorts that use scalars from around them take these as
/// elements of one more tensor each, which is the scalar everywhere.
void takeCaptured(mlir::Block& block);

} // namespace octavo::compiler
