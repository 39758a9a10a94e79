// Operations on constants, evaluated by the interpreter.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace octavo::transforms {

/// Whether an operation without side effects takes and gives plain tensors of known extents only,
/// none of more than `maxElements` elements.
bool isFoldable(mlir::Operation* op, std::int64_t maxElements);

/// Puts constants in the place of the results of an operation that isFoldable, and erases it. False
/// where an operand is no constant, or the interpreter refuses the operation.
bool foldConstants(mlir::Operation* op);

/// Evaluates an operation without results for its effect, if its operands are constants: false
/// where one is none, the interpreter's error where it refuses.
llvm::Expected<bool> evaluateOnConstants(mlir::Operation* op);

} // namespace octavo::transforms
