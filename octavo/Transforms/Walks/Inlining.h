// Calls that stand between codes and the dots that multiply their values.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace octavo::transforms {

/// Puts the bodies of functions in the place of the calls, and composites but xla.scaled_dot, that
/// have narrow tensors within, are given dequantized values or compute scales of them. Private
/// functions that nothing names then are erased. Calls of functions that reach themselves stay.
/// Arguments of public functions get the names that what they wrap (WrappedCall.h) has for them.
void openCalls(mlir::ModuleOp module);

/// Puts what public functions wrap in the place of its calls.
void openWrappers(mlir::ModuleOp module);

/// Puts the bodies of functions that do nothing but move values about, by indices perhaps that they
/// compute, in the place of their calls.
void openMovement(mlir::ModuleOp module);

/// Puts the bodies of functions in the place of all calls, in silence. What cannot be stays a call,
/// and so do all if the program were hundreds of thousands of operations without them.
void inlineCalls(mlir::ModuleOp module);

/// The function that a call, or a composite but xla.scaled_dot, means; null where it has no body,
/// or the operation is neither.
mlir::func::FuncOp calledFunction(mlir::Operation* op);

/// Puts the body of the function in the place of one such operation; not if it reaches itself. A
/// private function that nothing names then is erased.
bool openCall(mlir::Operation* call);

} // namespace octavo::transforms
