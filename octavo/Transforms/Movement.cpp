#include "octavo/Transforms/Movement.h"

#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Sort.h"
#include "octavo/Transforms/OpenedCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

bool laysOut(mlir::Operation* op) {
  return llvm::isa<sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::PropagationBarrierOp>(op);
}

bool isBranch(mlir::Operation* op) { return llvm::isa<stablehlo::IfOp, stablehlo::CaseOp>(op); }

bool makesEachOfOne(mlir::Operation* op) {
  return llvm::isa<stablehlo::OptimizationBarrierOp, stablehlo::AllGatherOp, stablehlo::AllReduceOp,
                   stablehlo::AllToAllOp, stablehlo::CollectivePermuteOp, stablehlo::SortOp>(op);
}

mlir::Value movedFrom(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr)
    return {};
  if (makesEachOfOne(op) && !llvm::isa<stablehlo::AllReduceOp, stablehlo::SortOp>(op))
    return op->getOperand(placeOfResult(value));
  if (laysOut(op) ||
      llvm::isa<stablehlo::TransposeOp, stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
                stablehlo::SliceOp, stablehlo::DynamicSliceOp, stablehlo::GatherOp,
                stablehlo::ReverseOp, stablehlo::ConvertOp>(op))
    return op->getOperand(0);
  return {};
}

mlir::Value unmoved(mlir::Value value) {
  while (const mlir::Value from = movedFrom(value))
    value = from;
  return value;
}

namespace {

using mlir::func::CallOp;
using mlir::func::FuncOp;

/// Goes from results back to what was handed in.
class HandedOn {
public:
  explicit HandedOn(llvm::function_ref<bool(mlir::Operation*)> letThrough)
      : letThrough(letThrough) {}

  mlir::Value origin(mlir::Value value) {
    while (mlir::Value before = step(value))
      value = before;
    return value;
  }

  mlir::Value throughCall(CallOp call, unsigned place) {
    FuncOp function = calledFunction(call);
    // A function that calls itself hands on nothing that can be known.
    if (!function || !llvm::hasSingleElement(function.getBody()) || !inside.insert(function).second)
      return {};
    const auto given =
        llvm::dyn_cast<mlir::BlockArgument>(origin(handedAt(function.getBody(), place)));
    inside.erase(function);
    return given && given.getOwner() == &function.getBody().front()
               ? call.getOperand(given.getArgNumber())
               : mlir::Value();
  }

private:
  /// What was handed to the operation that gives `value`; null where it computes it.
  mlir::Value step(mlir::Value value) {
    mlir::Operation* op = value.getDefiningOp();
    if (op == nullptr)
      return {};
    if (letThrough(op))
      if (mlir::Value from = movedFrom(value))
        return from;
    const unsigned place = placeOfResult(value);
    if (auto call = llvm::dyn_cast<CallOp>(op))
      return throughCall(call, place);
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op))
      return origin(handedAt(loop.getBody(), place)) == loop.getBody().getArgument(place)
                 ? loop->getOperand(place)
                 : mlir::Value();
    return isBranch(op) ? throughBranches(op, place) : mlir::Value();
  }

  mlir::Value throughBranches(mlir::Operation* op, unsigned place) {
    mlir::Value common;
    for (mlir::Region& region : op->getRegions()) {
      const mlir::Value given = origin(handedAt(region, place));
      if ((common && given != common) || !standsBefore(given, op))
        return {};
      common = given;
    }
    return common;
  }

  llvm::function_ref<bool(mlir::Operation*)> letThrough;
  llvm::DenseSet<mlir::Operation*> inside; ///< functions
};

} // namespace

unsigned placeOfResult(mlir::Value result) {
  return llvm::cast<mlir::OpResult>(result).getResultNumber();
}

mlir::Value handedAt(mlir::Region& region, unsigned place) {
  return region.front().getTerminator()->getOperand(place);
}

bool standsBefore(mlir::Value value, mlir::Operation* op) {
  return !op->isAncestor(value.getParentRegion()->getParentOp());
}

mlir::Value originOf(mlir::Value value) {
  return HandedOn([](mlir::Operation*) { return false; }).origin(value);
}

mlir::Value handedThrough(mlir::Value value,
                          llvm::function_ref<bool(mlir::Operation*)> letThrough) {
  auto call = value.getDefiningOp<CallOp>();
  return call ? HandedOn(letThrough).throughCall(call, placeOfResult(value)) : mlir::Value();
}

} // namespace octavo::transforms
