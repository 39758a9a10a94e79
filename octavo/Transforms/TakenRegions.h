// Loops, branches and calls with other operands and results.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"

namespace octavo::transforms {

/// An operation like `op`, before it, with these operands and types of results. It takes the
/// regions of `op`, which is for the caller to replace and erase.
mlir::Operation* takeRegions(mlir::Operation* op, mlir::ValueRange operands, mlir::TypeRange types);

/// The operation with more results, of these types, and more operands, in its place.
mlir::Operation* extended(mlir::Operation* op, mlir::ValueRange operands, mlir::TypeRange results);

/// Has a block hand on one more value, as the last.
void handOn(mlir::Block& block, mlir::Value next);

/// Gives a function one more argument, and one more result of its type: what `through` makes of the
/// argument in the body.
void extend(mlir::func::FuncOp function, mlir::Type type,
            llvm::function_ref<mlir::Value(mlir::Block&, mlir::Value)> through);

} // namespace octavo::transforms
