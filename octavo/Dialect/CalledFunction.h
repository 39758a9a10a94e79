// Marks functions that the compiler does not inline. Each call gives their arguments other values,
// so they are not weights.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace octavo {

/// Unit attribute of such a function.
inline constexpr llvm::StringLiteral kCalledFunction = "called_function";

/// Sets the attribute.
inline void markCalled(mlir::func::FuncOp function) {
  function->setAttr(kCalledFunction, mlir::UnitAttr::get(function.getContext()));
}

/// Whether `function` has the attribute.
inline bool isCalled(mlir::Operation* function) { return function->hasAttr(kCalledFunction); }

} // namespace octavo
