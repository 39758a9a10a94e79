// A program as Conversion takes it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace octavo::pipelines {

/// Makes a program one function, its calls inlined, what is constant folded, of operations that
/// there is code for where these keep its bits.
llvm::Error simplify(mlir::ModuleOp module);

} // namespace octavo::pipelines
