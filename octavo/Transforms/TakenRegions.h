// Rebuilds loops, branches, calls and functions with other operands and results.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"

namespace octavo::transforms {

/// Creates, before `op`, an operation like it with these operands and result types. Moves the
/// regions of `op` into it; the caller replaces and erases `op`.
mlir::Operation* takeRegions(mlir::Operation* op, mlir::ValueRange operands, mlir::TypeRange types);

/// Replaces `op` by an operation with additional operands and results of these types, and returns
/// that.
mlir::Operation* extended(mlir::Operation* op, mlir::ValueRange operands, mlir::TypeRange results);

/// Appends `next` to the operands of the block's terminator.
void handOn(mlir::Block& block, mlir::Value next);

/// Adds an argument of `type` to a function, and a result of that type: the value that `through`
/// computes from the argument in the body.
void extend(mlir::func::FuncOp function, mlir::Type type,
            llvm::function_ref<mlir::Value(mlir::Block&, mlir::Value)> through);

} // namespace octavo::transforms
