// Where activations come from that a backward pass reads again.
#pragma once

#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace octavo::transforms {

/// The values that a value is, where they are computed: what moves values is looked through, and so
/// are calls, loops that carry a value unchanged, and the stacks in which rounds of a loop store
/// what those of a later one read (as differentiating jax.lax.scan does). Several where a function
/// is called several times.
llvm::SmallVector<mlir::Value> computedAs(mlir::Value value, const ProgramCalls& program);

} // namespace octavo::transforms
