// Legalizes one CHLO operation to StableHLO operations that compute the same.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/Support/LogicalResult.h"

namespace octavo::transforms {

/// Replaces `op`. If StableHLO cannot express it, emits an error at `op` and leaves it.
llvm::LogicalResult legalizeCHLO(mlir::Operation* op);

} // namespace octavo::transforms
