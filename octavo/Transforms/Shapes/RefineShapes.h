// Makes the unknown extents of a function known that follow from the types of its arguments.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"

namespace octavo::transforms {

/// Gives `function` arguments of these types, one each, which must fit those that it has, and takes
/// what is known of the extents through its operations, regions and calls. An error at the
/// operation where an assertion on the shapes is false, or a call is too deep.
llvm::LogicalResult refineShapes(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Type> arguments);

/// Whether a type has an extent that is not known.
bool hasUnknownExtents(mlir::Type type);

} // namespace octavo::transforms
