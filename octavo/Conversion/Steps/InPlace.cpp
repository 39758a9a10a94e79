#include "octavo/Conversion/Steps/InPlace.h"

#include "octavo/Conversion/Kernels/Scatter.h"
#include "octavo/Conversion/Steps/Nodes.h"
#include "octavo/Dialect/Donation.h"
#include "octavo/Dialect/StableHLO/Indexing.h"

namespace octavo::conversion {

/// The value that an update changes; null where `value` does not come from an update.
static mlir::Value updatedBy(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (auto update = llvm::dyn_cast_or_null<stablehlo::DynamicUpdateSliceOp>(op))
    return update.getOperand();
  if (auto scatter = llvm::dyn_cast_or_null<stablehlo::ScatterOp>(op);
      scatter && whyNoScatter(scatter).empty())
    return scatter.getInputs()[llvm::cast<mlir::OpResult>(value).getResultNumber()];
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

} // namespace octavo::conversion
