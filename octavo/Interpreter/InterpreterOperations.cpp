// Evaluates interpreter.print, interpreter.probe and interpreter.run_parallel.
#include "octavo/Dialect/Interpreter/Interpreter.h"
#include "octavo/Interpreter/ElementText.h"
#include "octavo/Interpreter/Evaluation.h"
#include "octavo/Program/Values/Probes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Support/DebugStringHelper.h"

namespace octavo::interpreter {

namespace {

/// Appends the elements from `next` on as nested lists by the axes from `axis` on, in lines: "[[1,
/// 2], [3, 4]]".
void writeElements(const Tensor& tensor, std::size_t axis, std::int64_t& next, std::string& text) {
  if (axis == tensor.shape.size()) {
    text += plainElementText(tensor, next++);
    return;
  }
  const bool isLast = axis + 1 == tensor.shape.size();
  const std::string indent(2 * (axis + 1), ' ');
  text += "[";
  for (std::int64_t i = 0; i < tensor.shape[axis]; ++i) {
    text += i == 0 ? "" : isLast ? ", " : ",";
    if (!isLast)
      text += "\n" + indent + "  ";
    writeElements(tensor, axis + 1, next, text);
  }
  text += isLast || tensor.shape[axis] == 0 ? "]" : "\n" + indent + "]";
}

llvm::Expected<Results> evaluatePrint(PrintOp op, const Operands& operands,
                                      Evaluation& evaluation) {
  if (!evaluation.host().print)
    return Results{};
  std::string text;
  llvm::raw_string_ostream stream(text);
  op.getOperand().printAsOperand(stream, mlir::OpPrintingFlags());
  const Tensor& tensor = operands[0].tensor();
  text += " = " + describe(operands[0]) + " {\n  ";
  std::int64_t next = 0;
  writeElements(tensor, 0, next, text);
  evaluation.host().print(text + "\n}\n");
  return Results{};
}

llvm::Expected<Value> evaluateProbe(ProbeOp op, const Operands& operands, Evaluation& evaluation) {
  if (evaluation.host().probes == nullptr)
    return failure(op, "has nowhere to write to; `octavo run --probes FOLDER` says where");
  if (const auto written = evaluation.host().probes->write(
          op.getProbeId(), mlir::debugString(op.getResult().getType()), operands[0].tensor());
      !written)
    return failure(op, written.error());
  return std::move(operands[0]);
}

llvm::Expected<Results> evaluateRunParallel(RunParallelOp op, const Operands& operands,
                                            Evaluation& evaluation) {
  const auto replicas = static_cast<std::int64_t>(op.getPrograms().size());
  std::vector<ProcessWork> works;
  std::size_t next = 0;
  for (auto row : op.getPrograms().getAsRange<mlir::ArrayAttr>())
    for (auto name : row.getAsRange<mlir::FlatSymbolRefAttr>()) {
      auto function = evaluation.program().lookupSymbol<mlir::func::FuncOp>(name);
      const std::size_t count = function.getNumArguments();
      const auto arguments = operands.slice(next, count);
      works.push_back({name.getValue(), taken(arguments)});
      next += count;
    }
  Grid grid(replicas, static_cast<std::int64_t>(works.size()) / replicas);
  if (const auto infeed = op.getInfeed())
    for (auto name : infeed->getAsRange<mlir::FlatSymbolRefAttr>()) {
      llvm::Expected<Results> values = evaluation.call(op, name.getValue(), {});
      if (!values)
        return values.takeError();
      grid.put(infeedName(), std::move(*values));
    }
  return evaluateOnGrid(grid, evaluation.program(), std::move(works), evaluation.host());
}

} // namespace

void registerInterpreter(EvaluatorTable& table) {
  table.add<evaluatePrint>();
  table.add<evaluateProbe>();
  table.add<evaluateRunParallel>();
}

} // namespace octavo::interpreter
