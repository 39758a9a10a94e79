// Public functions that only hand their arguments on to a private one, as jax.export wraps programs
// of symbolic dimensions: the wrapper finds out what the dimensions are and asserts what holds of
// them, the names of the program's arguments are the private function's.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace octavo {

/// The call whose results a public function returns; null where there is none.
mlir::func::CallOp callAtEnd(mlir::func::FuncOp function);

/// The call whose results a public function returns, of a private function that nothing else names;
/// null where there is none.
mlir::func::CallOp wrappedCall(mlir::func::FuncOp function);

/// The location of an argument of a function: where that says no name, of what a wrapped call takes
/// it as.
mlir::Location locationOfArgument(mlir::func::FuncOp function, unsigned index);

} // namespace octavo
