// Emits operations on complex numbers as LLVM IR on pairs of registers.
#pragma once

#include "octavo/Compiler/Kernels/Scalars.h"

#include "mlir/IR/Operation.h"

namespace octavo::compiler {

/// Whether there is code for the operation. Its first operand has complex elements.
bool isCompiledComplex(mlir::Operation* op);

/// The result's element. Precondition: isCompiledComplex(op).
llvm::Value* emitComplex(Scalars& scalars, mlir::Operation* op,
                         llvm::ArrayRef<llvm::Value*> operands);

/// Sum and product of two complex numbers with parts of type `part`. Each part is rounded once.
llvm::Value* addComplex(Scalars& scalars, llvm::Value* x, llvm::Value* y);
llvm::Value* multiplyComplex(Scalars& scalars, mlir::Type part, llvm::Value* x, llvm::Value* y);

} // namespace octavo::compiler
