#include "octavo/Transforms/Walks/LoopInvariants.h"

#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Transforms/TakenRegions.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"
#include "octavo/Transforms/Walks/Inlining.h"
#include "octavo/Transforms/Walks/Movement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

namespace {

using mlir::func::CallOp;
using mlir::func::FuncOp;

constexpr llvm::StringLiteral kShardings = "sdy.sharding"; // one sharding for each result

/// Rebuilds `op` without result `place` and that result's sharding.
mlir::Operation* withoutResult(mlir::Operation* op, mlir::ValueRange operands, unsigned place,
                               ProgramCalls& program) {
  if (auto all = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(kShardings)) {
    llvm::SmallVector<sdy::TensorShardingAttr> kept(all.getShardings());
    kept.erase(kept.begin() + place);
    op->setAttr(kShardings, sdy::TensorShardingPerValueAttr::get(op->getContext(), kept));
  }
  if (auto call = llvm::dyn_cast<CallOp>(op); call && call.getResAttrsAttr()) {
    llvm::SmallVector<mlir::Attribute> kept(call.getResAttrsAttr().getValue());
    kept.erase(kept.begin() + place);
    call.setResAttrsAttr(mlir::ArrayAttr::get(op->getContext(), kept));
  }
  llvm::SmallVector<mlir::Type> types(op->getResultTypes());
  types.erase(types.begin() + place);
  mlir::Operation* fewer = takeRegions(op, operands, types);
  for (unsigned i = 0, j = 0; i < op->getNumResults(); ++i)
    if (i != place)
      op->getResult(i).replaceAllUsesWith(fewer->getResult(j++));
  if (auto call = llvm::dyn_cast<CallOp>(op))
    program.replace(call, llvm::cast<CallOp>(fewer));
  op->erase();
  return fewer;
}

void handOnNoMore(mlir::Operation* end, unsigned place, ProgramCalls& program);

/// Removes value `place`, which the loop does not change, from what it carries.
void carryNoMore(stablehlo::WhileOp loop, unsigned place, ProgramCalls& program) {
  handOnNoMore(loop.getBody().front().getTerminator(), place, program);
  const mlir::Value given = loop->getOperand(place);
  for (mlir::Region& region : loop->getRegions()) {
    region.getArgument(place).replaceAllUsesWith(given);
    region.eraseArgument(place);
  }
  loop->getResult(place).replaceAllUsesWith(given);
  llvm::SmallVector<mlir::Value> operands(loop->getOperands());
  operands.erase(operands.begin() + place);
  withoutResult(loop, operands, place, program);
}

/// Removes result `place` of a private function, which returns an argument unchanged.
void returnNoMore(FuncOp function, unsigned place, ProgramCalls& program) {
  mlir::Operation* end = function.getBody().front().getTerminator();
  const auto given = llvm::cast<mlir::BlockArgument>(originOf(end->getOperand(place), &program));
  handOnNoMore(end, place, program);
  for (CallOp call : llvm::to_vector(program.callsOf(function))) {
    call.getResult(place).replaceAllUsesWith(call.getOperand(given.getArgNumber()));
    withoutResult(call, call->getOperands(), place, program);
  }
  static_cast<void>(function.eraseResult(place));
}

/// Removes operand `place` of a terminator, and then the operations that only passed the value on
/// to it.
void handOnNoMore(mlir::Operation* end, unsigned place, ProgramCalls& program) {
  mlir::Value value = end->getOperand(place);
  const mlir::Value origin = originOf(value, &program);
  end->eraseOperand(place);
  if (origin == value)
    return;
  mlir::Operation* op = value.getDefiningOp();
  const unsigned number = placeOfResult(value);
  value.replaceAllUsesWith(origin);
  if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op))
    return carryNoMore(loop, number, program);
  if (auto call = llvm::dyn_cast<CallOp>(op)) {
    FuncOp function = program.called(call);
    if (!program.callsOf(function).empty())
      returnNoMore(function, number, program);
    return;
  }
  for (mlir::Region& region : op->getRegions())
    handOnNoMore(region.front().getTerminator(), number, program);
  withoutResult(op, op->getOperands(), number, program);
}

/// Hoists a data movement out of all loops that its operands allow.
void moveBeforeLoops(mlir::Operation* op) {
  for (mlir::Operation* around = op->getParentOp();
       op->getParentOfType<stablehlo::WhileOp>() &&
       (llvm::isa<stablehlo::WhileOp>(around) || isBranch(around)) &&
       llvm::all_of(op->getOperands(),
                    [&](mlir::Value operand) { return standsBefore(operand, around); });
       around = op->getParentOp())
    op->moveBefore(around);
}

class Taking {
public:
  explicit Taking(ProgramCalls& program) : program(program) {}

  void take(mlir::Value value) {
    llvm::SmallVector<mlir::Operation*> movement;
    for (mlir::Value from = movedFrom(value); from; from = movedFrom(value)) {
      movement.push_back(value.getDefiningOp());
      value = from;
    }
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      takeArgument(argument);
    else if (auto loop = value.getDefiningOp<stablehlo::WhileOp>())
      takeFromLoop(loop, placeOfResult(value));
    for (mlir::Operation* op : llvm::reverse(movement))
      moveBeforeLoops(op);
  }

private:
  void takeFromLoop(stablehlo::WhileOp loop, unsigned place) {
    if (!isUnchanged(loop, place, &program))
      return;
    const mlir::Value given = loop->getOperand(place);
    carryNoMore(loop, place, program);
    take(given);
  }

  void takeArgument(mlir::BlockArgument argument) {
    mlir::Operation* owner = argument.getOwner()->getParentOp();
    const unsigned place = argument.getArgNumber();
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(owner))
      return takeFromLoop(loop, place);
    auto function = llvm::dyn_cast<FuncOp>(owner);
    // A recursive program reaches an argument again.
    if (!function || !seen.insert(argument).second)
      return;
    // The list of calls may change in each iteration.
    for (std::size_t i = 0; i < program.callsOf(function).size(); ++i) {
      CallOp call = program.callsOf(function)[i];
      take(call.getOperand(place));
    }
  }

  ProgramCalls& program;
  llvm::DenseSet<mlir::Value> seen;
};

} // namespace

bool isUnchanged(stablehlo::WhileOp loop, unsigned place, const ProgramCalls* program) {
  return originOf(handedAt(loop.getBody(), place), program) == loop.getBody().getArgument(place);
}

void takeFromBeforeLoops(mlir::Value value, ProgramCalls& program) { Taking(program).take(value); }

} // namespace octavo::transforms
