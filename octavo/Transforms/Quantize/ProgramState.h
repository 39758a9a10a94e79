// State of a program: arguments that are donated to results which hold the next step's state.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace octavo::transforms {

/// Appends an argument of that name. Its type may change until returnState.
mlir::BlockArgument appendState(mlir::func::FuncOp function, llvm::StringRef name,
                                mlir::RankedTensorType type);

/// Appends `next` as the result that `argument` is donated to, with the argument's name.
void returnState(mlir::BlockArgument argument, mlir::Value next);

} // namespace octavo::transforms
