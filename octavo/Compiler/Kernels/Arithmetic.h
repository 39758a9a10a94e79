// The operations that compute each element from those at the same place, as LLVM's IR on scalars:
// docs/semantics.md, section C. The rules are section I's; what differs is stated there.
#pragma once

#include "octavo/Compiler/Kernels/Scalars.h"

#include "mlir/IR/Operation.h"

namespace octavo::compiler {

/// Whether there is code for the operation on its element types.
bool isCompiledElementwise(mlir::Operation* op);

/// The same for some element types.
bool isElementwise(mlir::Operation* op);

/// How much an element costs, in additions: what is dear is not computed twice.
int costOf(mlir::Operation* op);

/// The result's element from those of the operands. Precondition: isCompiledElementwise(op).
llvm::Value* emitElementwise(Scalars& scalars, mlir::Operation* op,
                             llvm::ArrayRef<llvm::Value*> operands);

} // namespace octavo::compiler
