#include "octavo/Compiler/Plan/InPlace.h"

#include "octavo/Compiler/Kernels/Scatter.h"
#include "octavo/Compiler/Kernels/Views.h"
#include "octavo/Dialect/Donation.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Indexing.h"

namespace octavo::compiler {

static mlir::Value updatedBy(mlir::Value value);

/// Whether `value` is `from` after updates alone, each the only reader of the value before it.
static bool isUpdated(mlir::Value value, mlir::Value from) {
  value = inMemory(value);
  while (value != from) {
    const mlir::Value before = updatedBy(value);
    if (!before || !before.hasOneUse() || inMemory(before) != before)
      return false;
    value = before;
  }
  return true;
}

/// The value that an update, or a loop of updates, changes into `value`; null: no such operation.
static mlir::Value updatedBy(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (auto update = llvm::dyn_cast_or_null<stablehlo::DynamicUpdateSliceOp>(op))
    return update.getOperand();
  if (auto scatter = llvm::dyn_cast_or_null<stablehlo::ScatterOp>(op);
      scatter && whyNoScatter(scatter).empty())
    return scatter.getInputs()[llvm::cast<mlir::OpResult>(value).getResultNumber()];
  if (auto loop = llvm::dyn_cast_or_null<stablehlo::WhileOp>(op)) {
    const unsigned i = llvm::cast<mlir::OpResult>(value).getResultNumber();
    mlir::Block& body = loop->getRegion(1).front();
    if (isUpdated(body.getTerminator()->getOperand(i), body.getArgument(i)))
      return loop->getOperand(i);
  }
  return nullptr;
}

std::vector<UpdatedArgument> updatedArguments(mlir::func::FuncOp function) {
  std::vector<UpdatedArgument> list;
  mlir::Operation* end = function.getBody().front().getTerminator();
  llvm::DenseSet<mlir::Value> taken;
  for (unsigned result = 0; result < end->getNumOperands(); ++result) {
    mlir::Value value = inMemory(end->getOperand(result));
    bool isUpdated = false;
    while (mlir::Value before = updatedBy(value)) {
      isUpdated = before.hasOneUse() && inMemory(before) == before;
      if (!isUpdated)
        break;
      value = before;
    }
    const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
    if (isUpdated && argument && isDonatedTo(function, argument.getArgNumber(), result) &&
        taken.insert(argument).second)
      list.push_back({argument.getArgNumber(), result});
  }
  return list;
}

DonatedResults donatedResults(mlir::func::FuncOp function,
                              llvm::ArrayRef<UpdatedArgument> updated) {
  DonatedResults found;
  llvm::DenseSet<unsigned> taken, given;
  for (const auto& [argument, result] : updated) {
    taken.insert(argument);
    given.insert(result);
  }
  mlir::Operation* end = function.getBody().front().getTerminator();
  for (unsigned result = 0; result < end->getNumOperands(); ++result) {
    const mlir::Value value = inMemory(end->getOperand(result));
    if (given.contains(result) || value.getDefiningOp() == nullptr || found.contains(value))
      continue;
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      if (!taken.contains(argument) && isDonatedTo(function, argument, result)) {
        taken.insert(argument);
        found[value] = {argument, result};
        break;
      }
  }
  return found;
}

} // namespace octavo::compiler
