// Functions of f32 and narrower elements in f32 arithmetic without branches or calls, which LLVM's
// vectorizer takes: 16 of them at once where f64 would be 8, in half the steps.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace octavo::compiler {

/// Each takes and gives a float; subnormals, infinities and NaN are as IEEE 754 asks. The error is
/// at most what rule C2 of docs/semantics.md says.
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
