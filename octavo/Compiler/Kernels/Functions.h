// Functions of f32 and narrower elements in f32 arithmetic, without branches or calls, so that LLVM
// vectorizes them: 16 elements at once, where f64 would have 8 in twice the steps.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace octavo::compiler {

/// Each takes and returns a float. Subnormals, infinities and NaN are as IEEE 754 requires. Rule C2
/// of docs/semantics.md bounds the error.
using RealFunction = llvm::Value* (*)(llvm::IRBuilder<> & b, llvm::Value* x);

llvm::Value* emitExp(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitExpm1(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitLog(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitLog1p(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitLogistic(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitTanh(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitErf(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitErfc(llvm::IRBuilder<>& b, llvm::Value* x);

} // namespace octavo::compiler
