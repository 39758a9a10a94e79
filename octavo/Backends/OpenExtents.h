// Extents that a program leaves open, made known by what it is given.
#pragma once

#include "octavo/Execution/Value.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"

#include <span>

namespace octavo::backends {

/// Whether an argument of the function has an extent that is not known.
bool hasOpenExtents(mlir::func::FuncOp function);

/// Takes the extents of the arguments from `values`, one an argument, and what follows from them
/// through the function. The error is RefineShapes'.
llvm::Error closeExtents(mlir::func::FuncOp function, std::span<const execution::Value> values);

} // namespace octavo::backends
