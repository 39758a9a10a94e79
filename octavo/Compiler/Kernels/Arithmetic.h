// Emits elementwise operations as LLVM IR on scalars: each element from the operands' elements at
// the same index. docs/semantics.md, section C, states where results differ from the rules of
// section I.
#pragma once

#include "octavo/Compiler/Kernels/Scalars.h"

#include "mlir/IR/Operation.h"

namespace octavo::compiler {

/// Whether there is code for the operation on its element types.
bool isCompiledElementwise(mlir::Operation* op);

/// Whether there is code for the operation on some element types.
bool isElementwise(mlir::Operation* op);

/// The cost of an element in additions. Values of high cost are not computed twice.
int costOf(mlir::Operation* op);

/// The result's element, from the operands' elements. Precondition: isCompiledElementwise(op).
llvm::Value* emitElementwise(Scalars& scalars, mlir::Operation* op,
                             llvm::ArrayRef<llvm::Value*> operands);

} // namespace octavo::compiler
