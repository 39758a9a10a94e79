#include "octavo/Interpreter/EvaluationPlan.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace octavo::interpreter {

namespace {

/// The step number of each operation of a block.
using Positions = llvm::DenseMap<mlir::Operation*, unsigned>;

/// The last step that uses a value of the block, as an operand or in a nested region.
struct LastUse {
  unsigned step;
  bool isOnlyDirect; ///< that step uses the value only as an operand, not in a region
  unsigned operand;  ///< if isOnlyDirect: the last operand of the step that is the value
};

std::optional<LastUse> lastUse(mlir::Value value, mlir::Block& block, const Positions& positions) {
  std::optional<LastUse> last;
  for (mlir::OpOperand& use : value.getUses()) {
    mlir::Operation* user = block.findAncestorOpInBlock(*use.getOwner());
    if (user == nullptr)
      continue;
    const unsigned step = positions.lookup(user);
    const bool isDirect = user == use.getOwner();
    if (!last || step > last->step)
      last = LastUse{step, isDirect, use.getOperandNumber()};
    else if (step == last->step)
      last = LastUse{step, last->isOnlyDirect && isDirect,
                     std::max(last->operand, use.getOperandNumber())};
  }
  return last;
}

} // namespace

llvm::Expected<Step> EvaluationPlans::step(mlir::Operation& op, unsigned firstResult) {
  Step step{.op = &op,
            .evaluator = evaluators().find(op.getName().getStringRef()),
            .operands = {},
            .firstResult = firstResult,
            .released = {},
            .results = {}};
  if (step.evaluator == nullptr)
    return failure(&op, "the interpreter has no evaluator for this operation");
  for (mlir::Value operand : op.getOperands()) {
    const auto slot = slots.find(operand);
    if (slot == slots.end())
      return failure(&op, "an operand has no value; the program is not in order");
    unsigned framesOut = 0;
    for (mlir::Block* at = op.getBlock(); at != operand.getParentBlock();
         at = at->getParentOp()->getBlock())
      ++framesOut;
    step.operands.push_back({framesOut, slot->second, false});
  }
  for (mlir::Value result : op.getResults()) {
    // Refuses shapes that exceed the memory before an evaluator allocates its result.
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(result.getType());
    std::optional<TensorShape> expected;
    if (type && type.hasStaticShape()) {
      llvm::Expected<TensorShape> shape = tensorShape(&op, type);
      if (!shape)
        return shape.takeError();
      expected = std::move(*shape);
    }
    step.results.push_back(std::move(expected));
  }
  return step;
}

llvm::Expected<const EvaluationPlan*> EvaluationPlans::of(mlir::Block& block) {
  if (const auto found = plans.find(&block); found != plans.end())
    return found->second.get();
  auto plan = std::make_unique<EvaluationPlan>();
  for (mlir::Value argument : block.getArguments()) {
    slots[argument] = plan->slots++;
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(argument.getType());
    std::optional<TensorShape> expected;
    if (type && type.hasStaticShape()) {
      if (llvm::Expected<TensorShape> shape = tensorShape(block.getParentOp(), type))
        expected = std::move(*shape);
      else
        llvm::consumeError(shape.takeError()); // mismatch() will refuse every value
    }
    plan->arguments.push_back(std::move(expected));
  }
  Positions positions;
  for (mlir::Operation& op : block) {
    positions[&op] = static_cast<unsigned>(plan->steps.size());
    llvm::Expected<Step> planned = step(op, plan->slots);
    if (!planned)
      return planned.takeError();
    plan->steps.push_back(std::move(*planned));
    for (mlir::Value result : op.getResults())
      slots[result] = plan->slots++;
  }
  const auto release = [&](mlir::Value value, std::optional<unsigned> definedAt) {
    const unsigned slot = slots.lookup(value);
    const std::optional<LastUse> last = lastUse(value, block, positions);
    if (!last && definedAt) {
      plan->steps[*definedAt].released.push_back(slot);
    } else if (last && !last->isOnlyDirect) {
      plan->steps[last->step].released.push_back(slot);
    } else if (last) {
      plan->steps[last->step].operands[last->operand].isLastUse = true;
    }
  };
  for (mlir::Value argument : block.getArguments())
    release(argument, std::nullopt);
  for (auto [i, op] : llvm::enumerate(block))
    for (mlir::Value result : op.getResults())
      release(result, static_cast<unsigned>(i));
  return plans.try_emplace(&block, std::move(plan)).first->second.get();
}

} // namespace octavo::interpreter
