// One operation of CHLO as operations of StableHLO that compute the same.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/Support/LogicalResult.h"

namespace octavo::transforms {

/// Puts them in its place. Where StableHLO cannot say it, an error of the operation, which stays.
llvm::LogicalResult legalizeCHLO(mlir::Operation* op);

} // namespace octavo::transforms
