// Replaces operations whose shapes are operands by those whose shapes are attributes.
#pragma once

#include "mlir/IR/Operation.h"

namespace octavo::transforms {

/// Replaces a `dynamic_*` operation, real_dynamic_slice, set_dimension_size, or a custom call by
/// which JAX extends StableHLO, by its static counterpart, and returns that. Null, and unchanged,
/// if a shape operand is not a constant, or does not fit: the interpreter reports that.
mlir::Operation* replaceByStatic(mlir::Operation* op);

} // namespace octavo::transforms
