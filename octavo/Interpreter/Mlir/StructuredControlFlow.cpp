// Evaluates MLIR's scf (loops and branches with regions) and cf.assert.
#include "octavo/Interpreter/Evaluation.h"
#include "octavo/Interpreter/Mlir/MLIRDialects.h"
#include "octavo/Interpreter/Tensor/Codec.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

namespace {

namespace scf = mlir::scf;

llvm::Expected<Results> evaluateScfIf(scf::IfOp op, const Operands& operands,
                                      Evaluation& evaluation) {
  mlir::Region& branch =
      operands[0].tensor().code(0) != 0 ? op.getThenRegion() : op.getElseRegion();
  if (branch.empty())
    return Results{};
  return evaluation.region(branch, {});
}

llvm::Expected<Results> evaluateExecuteRegion(scf::ExecuteRegionOp op, const Operands&,
                                              Evaluation& evaluation) {
  return evaluation.region(op.getRegion(), {});
}

llvm::Expected<Results> evaluateIndexSwitch(scf::IndexSwitchOp op, const Operands& operands,
                                            Evaluation& evaluation) {
  const auto chosen = static_cast<std::int64_t>(operands[0].tensor().code(0));
  for (auto [value, region] : llvm::zip_equal(op.getCases(), op.getCaseRegions()))
    if (value == chosen)
      return evaluation.region(region, {});
  return evaluation.region(op.getDefaultRegion(), {});
}

/// Bounds and step are integers of any width, signed unless the loop says otherwise. The trip count
/// is computed before the first iteration, so that the induction variable does not wrap.
llvm::Expected<Results> evaluateFor(scf::ForOp op, const Operands& operands,
                                    Evaluation& evaluation) {
  const Tensor& first = operands[0].tensor();
  const numerics::IntegerType type = first.type.integer();
  const auto bound = [&](std::size_t i) {
    return extend({type.width, op.getUnsignedCmp()}, operands[i].tensor().code(0));
  };
  const std::uint64_t begin = bound(0), end = bound(1);
  const std::uint64_t step = extend({type.width, false}, operands[2].tensor().code(0));
  if (static_cast<std::int64_t>(step) <= 0)
    return failure(op, "needs a step of 1 or more; found " +
                           llvm::Twine(static_cast<std::int64_t>(step)));
  const bool isEmpty = op.getUnsignedCmp()
                           ? begin >= end
                           : static_cast<std::int64_t>(begin) >= static_cast<std::int64_t>(end);
  const std::uint64_t turns = isEmpty ? 0 : (end - begin - 1) / step + 1;
  Results state(std::make_move_iterator(operands.begin() + 3),
                std::make_move_iterator(operands.end()));
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    Tensor variable = Tensor::zeros(type, {});
    variable.setCode(0, truncate(type, begin + turn * step));
    state.insert(state.begin(), Value(std::move(variable)));
    llvm::Expected<Results> next = evaluation.region(op.getRegion(), std::move(state));
    if (!next)
      return next.takeError();
    state = std::move(*next);
  }
  return state;
}

/// The first operand of scf.condition decides whether the other operands are passed to the body or
/// are the results.
llvm::Expected<Results> evaluateScfWhile(scf::WhileOp op, const Operands& operands,
                                         Evaluation& evaluation) {
  Results state = taken(operands);
  while (true) {
    llvm::Expected<Results> before = evaluation.region(op.getBefore(), std::move(state));
    if (!before)
      return before.takeError();
    const bool goesOn = before->front().tensor().code(0) != 0;
    before->erase(before->begin());
    if (!goesOn)
      return before;
    llvm::Expected<Results> after = evaluation.region(op.getAfter(), std::move(*before));
    if (!after)
      return after.takeError();
    state = std::move(*after);
  }
}

llvm::Expected<Results> evaluateAssert(mlir::cf::AssertOp op, const Operands& operands,
                                       Evaluation&) {
  if (operands[0].tensor().code(0) == 0)
    return failure(op, "does not hold: " + op.getMsg());
  return Results{};
}

} // namespace

void registerStructuredControlFlow(EvaluatorTable& table) {
  table.add("scf.condition", handOn);
  table.add("scf.yield", handOn);
  table.add<evaluateAssert>();
  table.add<evaluateExecuteRegion>();
  table.add<evaluateFor>();
  table.add<evaluateScfIf>();
  table.add<evaluateIndexSwitch>();
  table.add<evaluateScfWhile>();
}

} // namespace octavo::interpreter
