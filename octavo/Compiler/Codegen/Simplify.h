// Brings a program to the form that lowering takes.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace octavo::compiler {

/// Inlines calls (InlineCalls.h), folds constants, and replaces operations by others that have
/// code, as long as the results keep their bits.
llvm::Error simplify(mlir::ModuleOp module);

} // namespace octavo::compiler
