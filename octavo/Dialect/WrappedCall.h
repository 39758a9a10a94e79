// Public functions that forward their arguments to a private function. jax.export wraps a program
// with symbolic dimensions that way. The wrapper computes the dimensions and asserts their
// constraints; only the private function has the names of the program's arguments.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace octavo {

/// The call whose results, all and in order, are what a public function of one block returns. Null
/// if there is none.
mlir::func::CallOp callAtEnd(mlir::func::FuncOp function);

/// The same, if the callee is a private function with a body and this call is its only use. Else
/// null.
mlir::func::CallOp wrappedCall(mlir::func::FuncOp function);

/// The location of an argument. If it is unknown: the location of the parameter that takes the
/// argument in the wrapped call, if there is one.
mlir::Location locationOfArgument(mlir::func::FuncOp function, unsigned index);

} // namespace octavo
