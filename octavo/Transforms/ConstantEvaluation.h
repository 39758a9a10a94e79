// Evaluates operations on constants with the interpreter.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace octavo::transforms {

/// Whether `op` is a StableHLO or CHLO operation without side effects that has operands and
/// results. All of these must be plain tensors of known extents with at most `maxElements`
/// elements.
bool isFoldable(mlir::Operation* op, std::int64_t maxElements);

/// Replaces the results of an operation that isFoldable by constants, and erases it. False, and
/// unchanged, if an operand is not a constant or the interpreter refuses the operation.
bool foldConstants(mlir::Operation* op);

/// Evaluates an operation without results for its effect. False if an operand is not a constant;
/// the interpreter's error if it refuses.
llvm::Expected<bool> evaluateOnConstants(mlir::Operation* op);

} // namespace octavo::transforms
