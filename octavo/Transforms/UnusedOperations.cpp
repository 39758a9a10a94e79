#include "octavo/Transforms/UnusedOperations.h"

#include "octavo/Dialect/StableHLO/Collectives.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace octavo::transforms {

void eraseUnused(llvm::SetVector<mlir::Operation*> left) {
  while (!left.empty()) {
    mlir::Operation* op = left.pop_back_val();
    const bool isExchange =
        llvm::isa<stablehlo::AllGatherOp, stablehlo::AllToAllOp, stablehlo::CollectivePermuteOp,
                  stablehlo::CollectiveBroadcastOp>(op);
    if (!op->use_empty() || (!isExchange && !mlir::isMemoryEffectFree(op)))
      continue;
    for (mlir::Value operand : op->getOperands())
      if (mlir::Operation* made = operand.getDefiningOp())
        left.insert(made);
    op->erase();
  }
}

} // namespace octavo::transforms
