// Erases computations whose results are no longer used.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace octavo::transforms {

/// Erases the unused operations among `left`, and then every operation that only erased ones used.
/// Of operations with effects, only those that move data between processes are erased: they would
/// move it for nothing.
void eraseUnused(llvm::SetVector<mlir::Operation*> left);

} // namespace octavo::transforms
