// Donated arguments in whose memory a program may write results.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace octavo::compiler {

/// The numbers of an argument and of the result that takes its memory.
struct UpdatedArgument {
  unsigned argument, result;
};

/// The donated arguments that become a result by updates alone (dynamic_update_slice, scatter,
/// loops of them), if nothing else reads the value before each update.
std::vector<UpdatedArgument> updatedArguments(mlir::func::FuncOp function);

/// Further results to which an argument is donated, by the value that would take the argument's
/// memory; each argument once. Whether the value can lie there is known only when all steps are.
using DonatedResults = llvm::DenseMap<mlir::Value, UpdatedArgument>;
/// The further results, where `updated` has taken its arguments and results already.
DonatedResults donatedResults(mlir::func::FuncOp function, llvm::ArrayRef<UpdatedArgument> updated);

} // namespace octavo::compiler
