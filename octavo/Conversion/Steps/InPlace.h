// Donated arguments that a program updates where they lie.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace octavo::conversion {

struct UpdatedArgument {
  unsigned argument, result;
};

/// The donated arguments that become a result by updates alone (dynamic_update_slice, scatter),
/// where nothing else reads what an update writes over.
std::vector<UpdatedArgument> updatedArguments(mlir::func::FuncOp function);

} // namespace octavo::conversion
