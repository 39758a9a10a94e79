// Functions that stay functions when a program is compiled: their arguments are other values in
// each call, as weights are not.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace octavo {

inline constexpr llvm::StringLiteral kCalledFunction = "called_function";

inline void markCalled(mlir::func::FuncOp function) {
  function->setAttr(kCalledFunction, mlir::UnitAttr::get(function.getContext()));
}

inline bool isCalled(mlir::Operation* function) { return function->hasAttr(kCalledFunction); }

} // namespace octavo
