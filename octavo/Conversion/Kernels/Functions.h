// Functions of f32 and narrower elements in f64 arithmetic without branches or calls, which LLVM's
// vectorizer takes: one rounding at the end gives what the exact value rounds to but for the rarest
// ties. The arguments are f32 values in f64; results are right where f32's range is left, too.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace octavo::conversion {

/// Each takes and gives a double. Relative error at most 2^-40 where the result is a normal f32.
using RealFunction = llvm::Value* (*)(llvm::IRBuilder<> & b, llvm::Value* x);

llvm::Value* emitExp(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitExpm1(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitLog(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitLog1p(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitLogistic(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitTanh(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitErf(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* emitErfc(llvm::IRBuilder<>& b, llvm::Value* x);

} // namespace octavo::conversion
