#include "octavo/Transforms/Walks/Movement.h"

#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Sort.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"
#include "octavo/Transforms/Walks/Inlining.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>
#include <utility>

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

/// Traces results back to the operands that they equal. Each result of a function is analyzed once.
/// Iterative, since calls nest as deep as a program is long.
class HandedOn {
public:
  HandedOn(llvm::function_ref<bool(mlir::Operation*)> letThrough, const ProgramCalls* program)
      : letThrough(letThrough), program(program) {}

  mlir::Value origin(mlir::Value value) {
    for (;;) {
      value = reached(value);
      if (!needed.first)
        return value;
      lookAt(std::exchange(needed, {}));
    }
  }

  mlir::Value throughCall(CallOp call, unsigned place) {
    FuncOp function = calledBy(call);
    if (function)
      lookAt({function, place});
    return function ? operandOf(call, given.lookup({function, place})) : mlir::Value();
  }

private:
  using Result = std::pair<FuncOp, unsigned>; ///< a function and the number of its result
  using Key = std::pair<mlir::Operation*, unsigned>;

  /// A result that is being analyzed, and how far back it has been traced.
  struct Visit {
    Result result;
    mlir::Value at;
  };

  FuncOp calledBy(CallOp call) const {
    return program != nullptr ? program->called(call) : calledFunction(call);
  }

  static mlir::Value operandOf(CallOp call, std::optional<unsigned> argument) {
    return argument ? call.getOperand(*argument) : mlir::Value();
  }

  /// Finds which argument a function returns as a result; nullopt if it computes the result.
  void lookAt(Result first) {
    llvm::SmallVector<Visit> visits;
    const auto enter = [&](Result result) {
      auto [function, place] = result;
      // The result of a recursive function is taken as computed.
      const bool isOpen = !function.isExternal() && llvm::hasSingleElement(function.getBody()) &&
                          inside.insert(function).second;
      if (isOpen)
        visits.push_back({result, handedAt(function.getBody(), place)});
      else
        given.try_emplace(Key(function, place));
    };
    if (!given.contains(Key(first.first, first.second)))
      enter(first);
    while (!visits.empty()) {
      Visit& visit = visits.back();
      visit.at = reached(visit.at);
      if (needed.first) {
        enter(std::exchange(needed, {}));
        continue;
      }
      FuncOp function = visit.result.first;
      const auto argument = llvm::dyn_cast<mlir::BlockArgument>(visit.at);
      given[Key(function, visit.result.second)] =
          argument && argument.getOwner() == &function.getBody().front()
              ? std::optional(argument.getArgNumber())
              : std::nullopt;
      inside.erase(function);
      visits.pop_back();
    }
  }

  /// Traces `value` back until it is defined before `around`. Stops at the call of a function that
  /// must be analyzed first, and sets `needed` to it.
  mlir::Value reached(mlir::Value value, mlir::Operation* around = nullptr) {
    while (around == nullptr || !standsBefore(value, around)) {
      const mlir::Value before = step(value);
      if (!before)
        break;
      value = before;
    }
    return value;
  }

  /// The operand that `value` equals. Null if its operation computes it, or if a function is
  /// needed.
  mlir::Value step(mlir::Value value) {
    mlir::Operation* op = value.getDefiningOp();
    if (op == nullptr)
      return {};
    if (letThrough(op))
      if (mlir::Value from = movedFrom(value))
        return from;
    const unsigned place = placeOfResult(value);
    if (auto call = llvm::dyn_cast<CallOp>(op))
      return stepThroughCall(call, place);
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op))
      return reached(handedAt(loop.getBody(), place), loop) == loop.getBody().getArgument(place)
                 ? loop->getOperand(place)
                 : mlir::Value();
    return isBranch(op) ? throughBranches(op, place) : mlir::Value();
  }

  mlir::Value stepThroughCall(CallOp call, unsigned place) {
    FuncOp function = calledBy(call);
    if (!function)
      return {};
    const auto known = given.find({function, place});
    if (known != given.end())
      return operandOf(call, known->second);
    needed = {function, place};
    return {};
  }

  mlir::Value throughBranches(mlir::Operation* op, unsigned place) {
    mlir::Value common;
    for (mlir::Region& region : op->getRegions()) {
      const mlir::Value value = reached(handedAt(region, place), op);
      if (needed.first || (common && value != common) || !standsBefore(value, op))
        return {};
      common = value;
    }
    return common;
  }

  llvm::function_ref<bool(mlir::Operation*)> letThrough;
  const ProgramCalls* program;
  llvm::DenseSet<mlir::Operation*> inside; ///< functions
  llvm::DenseMap<Key, std::optional<unsigned>> given;
  Result needed;
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

mlir::Value originOf(mlir::Value value, const ProgramCalls* program) {
  return HandedOn([](mlir::Operation*) { return false; }, program).origin(value);
}

mlir::Value handedThrough(mlir::Value value, llvm::function_ref<bool(mlir::Operation*)> letThrough,
                          const ProgramCalls* program) {
  auto call = value.getDefiningOp<CallOp>();
  return call ? HandedOn(letThrough, program).throughCall(call, placeOfResult(value))
              : mlir::Value();
}

} // namespace octavo::transforms
