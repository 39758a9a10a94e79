// The types that an operation's results have, by the types of its operands.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace octavo::transforms {

/// One type a result; none where the operands' types do not say the results', as those of a call or
/// of an operation whose shape is an operand. The operation must be verified.
llvm::SmallVector<mlir::Type> inferredTypes(mlir::Operation* op);

} // namespace octavo::transforms
