// Operations whose shapes are operands, as those whose shapes are attributes.
#pragma once

#include "mlir/IR/Operation.h"

namespace octavo::transforms {

/// Puts the counterpart with attributes in the place of a `dynamic_*` operation,
/// real_dynamic_slice, set_dimension_size or a custom call that JAX has for what StableHLO has not,
/// and gives it. Null, and nothing is changed, where the operands that are shapes are no constants,
/// or where they do not fit: that the interpreter then says.
mlir::Operation* replaceByStatic(mlir::Operation* op);

} // namespace octavo::transforms
