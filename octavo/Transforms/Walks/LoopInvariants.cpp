#include "octavo/Transforms/Walks/LoopInvariants.h"

#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Transforms/TakenRegions.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"
#include "octavo/Transforms/Walks/Inlining.h"
#include "octavo/Transforms/Walks/Movement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <cstdint>
#include <utility>

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

/// Removes values that loops, branches and functions pass on unchanged. Pending work is kept in a
/// list, not on the C++ stack: calls nest as deep as a program is long.
class Removal {
public:
  explicit Removal(ProgramCalls& program) : program(program) {}

  /// Removes value `place`, which the loop does not change, from what it carries.
  void fromLoop(stablehlo::WhileOp loop, unsigned place) {
    enterLoop(loop, place);
    while (!steps.empty())
      take(steps.pop_back_val());
  }

private:
  enum class Kind : std::uint8_t { End, Loop, Function, Branch };
  /// End: operand `place` of a terminator is to be removed. Else: result `place` of a loop,
  /// function or branch, whose regions no longer yield it.
  struct Step {
    Kind kind;
    mlir::Operation* op;
    unsigned place;
    unsigned argument = 0; ///< of a function: the number of the argument that it returns
  };

  void take(const Step& step) {
    switch (step.kind) {
    case Kind::End:
      return fromEnd(step.op, step.place);
    case Kind::Loop:
      return finish(llvm::cast<stablehlo::WhileOp>(step.op), step.place);
    case Kind::Function:
      return finish(llvm::cast<FuncOp>(step.op), step.place, step.argument);
    case Kind::Branch:
      withoutResult(step.op, step.op->getOperands(), step.place, program);
    }
  }

  /// Removes operand `place` of a terminator, and then the operations that only passed the value on
  /// to it.
  void fromEnd(mlir::Operation* end, unsigned place) {
    mlir::Value value = end->getOperand(place);
    const mlir::Value origin = originOf(value, &program);
    end->eraseOperand(place);
    if (origin == value)
      return;
    mlir::Operation* op = value.getDefiningOp();
    const unsigned number = placeOfResult(value);
    value.replaceAllUsesWith(origin);
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op))
      return enterLoop(loop, number);
    if (auto call = llvm::dyn_cast<CallOp>(op)) {
      FuncOp function = program.called(call);
      if (!program.callsOf(function).empty())
        enterFunction(function, number);
      return;
    }
    steps.push_back({Kind::Branch, op, number});
    for (mlir::Region& region : llvm::reverse(op->getRegions()))
      steps.push_back({Kind::End, region.front().getTerminator(), number});
  }

  void enterLoop(stablehlo::WhileOp loop, unsigned place) {
    steps.push_back({Kind::Loop, loop, place});
    steps.push_back({Kind::End, loop.getBody().front().getTerminator(), place});
  }

  void finish(stablehlo::WhileOp loop, unsigned place) {
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
  void enterFunction(FuncOp function, unsigned place) {
    mlir::Operation* end = function.getBody().front().getTerminator();
    const auto given = llvm::cast<mlir::BlockArgument>(originOf(end->getOperand(place), &program));
    steps.push_back({Kind::Function, function, place, given.getArgNumber()});
    steps.push_back({Kind::End, end, place});
  }

  void finish(FuncOp function, unsigned place, unsigned argument) {
    for (CallOp call : llvm::to_vector(program.callsOf(function))) {
      call.getResult(place).replaceAllUsesWith(call.getOperand(argument));
      withoutResult(call, call->getOperands(), place, program);
    }
    static_cast<void>(function.eraseResult(place));
  }

  ProgramCalls& program;
  llvm::SmallVector<Step> steps; ///< pending, the next one last
};

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

/// Makes a value, and the values that it was moved from, be read from before the loops that carry
/// them, up to the program's arguments. Pending work is kept in a list, as in Removal.
class Taking {
public:
  explicit Taking(ProgramCalls& program) : program(program) {}

  void take(mlir::Value value) {
    steps.push_back({.value = value});
    while (!steps.empty()) {
      Step step = steps.pop_back_val();
      if (step.value)
        takeOne(step.value);
      else if (step.function)
        takeFromCall(step.function, step.argument, step.call);
      for (mlir::Operation* op : llvm::reverse(step.movement))
        moveBeforeLoops(op);
    }
  }

private:
  /// One of: a value to take; a call of a function, whose operand is to be taken; operations to
  /// hoist.
  struct Step {
    mlir::Value value = {};
    FuncOp function = {};
    unsigned argument = 0;
    std::size_t call = 0;
    llvm::SmallVector<mlir::Operation*> movement = {};
  };

  void takeOne(mlir::Value value) {
    llvm::SmallVector<mlir::Operation*> movement;
    for (mlir::Value from = movedFrom(value); from; from = movedFrom(value)) {
      movement.push_back(value.getDefiningOp());
      value = from;
    }
    steps.push_back({.movement = std::move(movement)});
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      takeArgument(argument);
    else if (auto loop = value.getDefiningOp<stablehlo::WhileOp>())
      takeFromLoop(loop, placeOfResult(value));
  }

  void takeFromLoop(stablehlo::WhileOp loop, unsigned place) {
    if (!isUnchanged(loop, place, &program))
      return;
    const mlir::Value given = loop->getOperand(place);
    Removal(program).fromLoop(loop, place);
    steps.push_back({.value = given});
  }

  void takeArgument(mlir::BlockArgument argument) {
    mlir::Operation* owner = argument.getOwner()->getParentOp();
    const unsigned place = argument.getArgNumber();
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(owner))
      return takeFromLoop(loop, place);
    auto function = llvm::dyn_cast<FuncOp>(owner);
    // A recursive program reaches an argument again.
    if (function && seen.insert(argument).second)
      steps.push_back({.function = function, .argument = place});
  }

  /// Takes the operand of call number `number` of the function; the next call follows after that,
  /// since the list of calls may change in between.
  void takeFromCall(FuncOp function, unsigned argument, std::size_t number) {
    const llvm::ArrayRef<CallOp> calls = program.callsOf(function);
    if (number >= calls.size())
      return;
    steps.push_back({.function = function, .argument = argument, .call = number + 1});
    CallOp call = calls[number];
    steps.push_back({.value = call.getOperand(argument)});
  }

  ProgramCalls& program;
  llvm::DenseSet<mlir::Value> seen;
  llvm::SmallVector<Step> steps; ///< pending, the next one last
};

} // namespace

bool isUnchanged(stablehlo::WhileOp loop, unsigned place, const ProgramCalls* program) {
  return originOf(handedAt(loop.getBody(), place), program) == loop.getBody().getArgument(place);
}

void takeFromBeforeLoops(mlir::Value value, ProgramCalls& program) { Taking(program).take(value); }

} // namespace octavo::transforms
