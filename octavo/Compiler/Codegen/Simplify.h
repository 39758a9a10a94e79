// A program as Conversion takes it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace octavo::compiler {

/// Inlines the calls of a program (InlineCalls.h), folds what is constant, and makes its operations
/// those that there is code for where these keep its bits.
llvm::Error simplify(mlir::ModuleOp module);

} // namespace octavo::compiler
