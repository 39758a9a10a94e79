// Refines the shapes of a function: infers unknown extents from the types of its arguments.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"

namespace octavo::transforms {

/// Sets the argument types of `function`, one each, compatible with the present ones, and
/// propagates the extents through operations, regions and calls. Fails, with an error at the
/// operation, if a shape assertion is false or calls nest too deep.
llvm::LogicalResult refineShapes(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Type> arguments);

/// Whether a type has an unknown extent.
bool hasUnknownExtents(mlir::Type type);

} // namespace octavo::transforms
