// Donated arguments that a program may write results over.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace octavo::compiler {

struct UpdatedArgument {
  unsigned argument, result;
};

/// The donated arguments that become a result by updates alone (dynamic_update_slice, scatter,
/// loops of them), where nothing else reads what an update writes over.
std::vector<UpdatedArgument> updatedArguments(mlir::func::FuncOp function);

/// The other results that arguments are donated to, one each: by the value that has their memory.
/// Whether they can lie there is known when all steps are.
using DonatedResults = llvm::DenseMap<mlir::Value, UpdatedArgument>;
DonatedResults donatedResults(mlir::func::FuncOp function, llvm::ArrayRef<UpdatedArgument> updated);

} // namespace octavo::compiler
