// What of a program differentiating in reverse has made, by the names that JAX gives it.
#pragma once

#include "mlir/IR/Value.h"

namespace octavo::transforms {

/// Whether a value is a gradient: an operation computes it whose name, or that of a loop or branch
/// around it or of every call of its function, has `transpose(`. What only moves values is looked
/// through, and so are loops and functions that are given a gradient.
bool isDerivative(mlir::Value value);

} // namespace octavo::transforms
