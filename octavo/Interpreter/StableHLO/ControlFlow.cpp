// Evaluates StableHLO's control flow family: calls, returns, composites, tuples, loops and
// branches.
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Interpreter/Evaluation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace octavo::interpreter {

namespace {

llvm::Expected<Results> evaluateCall(mlir::func::CallOp op, const Operands& operands,
                                     Evaluation& evaluation) {
  return evaluation.call(op, op.getCallee(), taken(operands));
}

llvm::Expected<Results> evaluateComposite(stablehlo::CompositeOp op, const Operands& operands,
                                          Evaluation& evaluation) {
  return evaluation.call(op, op.getDecomposition(), taken(operands));
}

llvm::Expected<Value> evaluateTuple(stablehlo::TupleOp, const Operands& operands, Evaluation&) {
  return Value::tuple(taken(operands));
}

llvm::Expected<Value> evaluateGetTupleElement(stablehlo::GetTupleElementOp op,
                                              const Operands& operands, Evaluation&) {
  const std::vector<Value>& elements = operands[0].elements();
  const auto index = static_cast<std::size_t>(op.getIndex());
  if (index >= elements.size())
    return failure(op, "element " + llvm::Twine(index) + " of a tuple of " +
                           llvm::Twine(elements.size()));
  return elements[index];
}

llvm::Expected<Results> evaluateToken(mlir::Operation*, const Operands&, Evaluation&) {
  return Results{Value()};
}

llvm::Expected<Results> evaluateIf(stablehlo::IfOp op, const Operands& operands,
                                   Evaluation& evaluation) {
  return evaluation.region(
      operands[0].tensor().code(0) != 0 ? op.getTrueBranch() : op.getFalseBranch(), {});
}

llvm::Expected<Results> evaluateCase(stablehlo::CaseOp op, const Operands& operands,
                                     Evaluation& evaluation) {
  const auto last = static_cast<std::int64_t>(op.getBranches().size()) - 1;
  const auto index = static_cast<std::int32_t>(operands[0].tensor().code(0));
  // Indices out of range, also negative ones, select the last branch.
  const std::int64_t branch = index < 0 || index > last ? last : index;
  return evaluation.region((*op).getRegion(static_cast<unsigned>(branch)), {});
}

/// Moves values from iteration to iteration, so that the body may overwrite values without another
/// owner.
llvm::Expected<Results> evaluateWhile(stablehlo::WhileOp op, const Operands& operands,
                                      Evaluation& evaluation) {
  Results state = taken(operands);
  while (true) {
    llvm::Expected<Results> goesOn = evaluation.region(op.getCond(), state);
    if (!goesOn)
      return goesOn.takeError();
    if (goesOn->front().tensor().code(0) == 0)
      return state;
    llvm::Expected<Results> next = evaluation.region(op.getBody(), std::move(state));
    if (!next)
      return next.takeError();
    state = std::move(*next);
  }
}

} // namespace

void registerControlFlow(EvaluatorTable& table) {
  table.add("func.return", handOn);
  table.add("stablehlo.return", handOn);
  table.add("stablehlo.after_all", evaluateToken);
  table.add("stablehlo.create_token", evaluateToken);
  table.add<evaluateCall>();
  table.add<evaluateCase>();
  table.add<evaluateComposite>();
  table.add<evaluateGetTupleElement>();
  table.add<evaluateIf>();
  table.add(stablehlo::OptimizationBarrierOp::getOperationName(), handOn);
  table.add<evaluateTuple>();
  table.add<evaluateWhile>();
}

} // namespace octavo::interpreter
