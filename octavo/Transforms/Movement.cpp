#include "octavo/Transforms/Movement.h"

#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Transforms/OpenedCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

bool laysOut(mlir::Operation* op) {
  return llvm::isa<sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::PropagationBarrierOp>(op);
}

mlir::Value movedFrom(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr)
    return {};
  // Of each operand a result.
  if (llvm::isa<stablehlo::OptimizationBarrierOp, stablehlo::AllGatherOp, stablehlo::AllToAllOp,
                stablehlo::CollectivePermuteOp>(op))
    return op->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber());
  if (laysOut(op) ||
      llvm::isa<stablehlo::TransposeOp, stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
                stablehlo::SliceOp, stablehlo::DynamicSliceOp, stablehlo::GatherOp,
                stablehlo::ConvertOp>(op))
    return op->getOperand(0);
  return {};
}

namespace {

class HandedThrough {
public:
  explicit HandedThrough(llvm::function_ref<bool(mlir::Operation*)> letThrough)
      : letThrough(letThrough) {}

  mlir::Value of(mlir::Value value) {
    auto call = value.getDefiningOp<mlir::func::CallOp>();
    mlir::func::FuncOp function = call ? calledFunction(call) : mlir::func::FuncOp();
    // A function that calls itself hands on nothing that can be known.
    if (!function || !llvm::hasSingleElement(function.getBody()) || !within.insert(function).second)
      return {};
    mlir::Block& body = function.getBody().front();
    mlir::Value given =
        body.getTerminator()->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber());
    while (mlir::Operation* op = given.getDefiningOp()) {
      const mlir::Value from = letThrough(op) ? movedFrom(given) : mlir::Value();
      const mlir::Value next = from ? from : of(given);
      if (!next)
        break;
      given = next;
    }
    within.erase(function);
    const auto argument = llvm::dyn_cast<mlir::BlockArgument>(given);
    return argument && argument.getOwner() == &body ? call.getOperand(argument.getArgNumber())
                                                    : mlir::Value();
  }

private:
  llvm::function_ref<bool(mlir::Operation*)> letThrough;
  llvm::DenseSet<mlir::Operation*> within; ///< functions
};

} // namespace

mlir::Value handedThrough(mlir::Value value,
                          llvm::function_ref<bool(mlir::Operation*)> letThrough) {
  return HandedThrough(letThrough).of(value);
}

} // namespace octavo::transforms
