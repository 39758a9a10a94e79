// Inlines calls, above all those between codes of narrow formats and the dots that multiply their
// values.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace octavo::transforms {

/// Inlines the calls and composites (but xla.scaled_dot) whose functions have narrow tensors, or
/// that take or give dequantized values or scales computed from them. Then erases private functions
/// that nothing names. Recursive calls stay. If a public function only wraps such a call
/// (WrappedCall.h), its arguments get the names of the wrapped function's.
void openCalls(mlir::ModuleOp module);

/// Inlines the call that a public function wraps (WrappedCall.h).
void openWrappers(mlir::ModuleOp module);

/// Inlines the calls of private functions that return one operand, moved, and have no products,
/// calls or regions. They may compute the indices by which they move it.
void openMovement(mlir::ModuleOp module);

/// Inlines all calls, without warnings. Recursive calls stay. If the result would exceed hundreds
/// of thousands of operations, nothing is inlined.
void inlineCalls(mlir::ModuleOp module);

/// The function that a call or a composite (but xla.scaled_dot) names. Null if the function has no
/// body or `op` is neither.
mlir::func::FuncOp calledFunction(mlir::Operation* op);

/// Inlines one such call; returns false if it cannot, as for a recursive one. Then erases the
/// function if it is private and unnamed.
bool openCall(mlir::Operation* call);

} // namespace octavo::transforms
