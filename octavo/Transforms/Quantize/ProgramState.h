// State of a program: what comes in as an argument, and goes out as the result that the argument is
// donated to.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace octavo::transforms {

/// Appends an argument of that name to a function. Its type may change until its result is there.
mlir::BlockArgument appendState(mlir::func::FuncOp function, llvm::StringRef name,
                                mlir::RankedTensorType type);

/// Appends the result of that argument, under its name.
void returnState(mlir::BlockArgument argument, mlir::Value next);

} // namespace octavo::transforms
