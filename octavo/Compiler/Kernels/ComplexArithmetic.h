// Operations on complex numbers, as LLVM's IR on pairs of registers.
#pragma once

#include "octavo/Compiler/Kernels/Scalars.h"

#include "mlir/IR/Operation.h"

namespace octavo::compiler {

/// Whether there is code for the operation, whose first operand has complex elements.
bool isCompiledComplex(mlir::Operation* op);

/// The result's element. Precondition: isCompiledComplex(op).
llvm::Value* emitComplex(Scalars& scalars, mlir::Operation* op,
                         llvm::ArrayRef<llvm::Value*> operands);

/// The same of two numbers whose parts are of a type: each part is rounded once.
llvm::Value* addComplex(Scalars& scalars, llvm::Value* x, llvm::Value* y);
llvm::Value* multiplyComplex(Scalars& scalars, mlir::Type part, llvm::Value* x, llvm::Value* y);

} // namespace octavo::compiler
