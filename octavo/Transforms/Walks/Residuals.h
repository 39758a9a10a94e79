// Traces the activations that a backward pass reads to where the forward pass computes them.
#pragma once

#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace octavo::transforms {

/// The values where `value` is computed. Looks through
/// - data movement and calls;
/// - loops that carry a value unchanged;
/// - stacks that one loop writes an iteration at a time and a later loop reads, as in the
///   derivative of jax.lax.scan.
/// Several values if a function on the way is called several times.
llvm::SmallVector<mlir::Value> computedAs(mlir::Value value, const ProgramCalls& program);

} // namespace octavo::transforms
