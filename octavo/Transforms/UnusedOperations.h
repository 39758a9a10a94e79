// What is left of computations whose results others have taken over.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace octavo::transforms {

/// Erases those of the operations that nobody uses, and what only they used. Of operations with
/// effects, only those that move values between processes go, which would move them for nobody.
void eraseUnused(llvm::SetVector<mlir::Operation*> left);

} // namespace octavo::transforms
