// Loops, branches and calls with other operands and results.
#pragma once

#include "mlir/IR/Operation.h"

namespace octavo::transforms {

/// An operation like `op`, before it, with these operands and types of results. It takes the
/// regions of `op`, which is for the caller to replace and erase.
mlir::Operation* takeRegions(mlir::Operation* op, mlir::ValueRange operands, mlir::TypeRange types);

/// The operation with more results, of these types, and more operands, in its place.
mlir::Operation* extended(mlir::Operation* op, mlir::ValueRange operands, mlir::TypeRange results);

} // namespace octavo::transforms
