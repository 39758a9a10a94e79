// Infers the types of an operation's results from those of its operands.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace octavo::transforms {

/// One type for each result. Empty if the operands' types do not determine the results', as for a
/// call, or an operation with a shape operand. `op` must be verified.
llvm::SmallVector<mlir::Type> inferredTypes(mlir::Operation* op);

} // namespace octavo::transforms
