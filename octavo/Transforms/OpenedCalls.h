// Calls that stand between codes and the dots that multiply their values.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace octavo::transforms {

/// Puts the bodies of functions in the place of the calls, and composites but xla.scaled_dot, that
/// have narrow tensors within, are given dequantized values or compute scales of them. Private
/// functions that nothing names then are erased. Calls of functions that reach themselves stay.
void openCalls(mlir::ModuleOp module);

} // namespace octavo::transforms
