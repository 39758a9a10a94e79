#include "octavo/Session/Trials/Bisect.h"

#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/LlvmErrors.h"
#include "octavo/Interpreter/Interpreter.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace octavo::session {

namespace {

using program::Value;

constexpr llvm::StringLiteral kAlone = "octavo.alone";

bool isConstant(mlir::Value value) {
  return value.getDefiningOp() != nullptr && mlir::matchPattern(value, mlir::m_Constant());
}

/// Adds a function with a copy of one operation to a module; the destructor removes it.
class Alone {
public:
  Alone(mlir::ModuleOp module, mlir::Operation* op) {
    llvm::SetVector<mlir::Value> used(op->operand_begin(), op->operand_end());
    mlir::getUsedValuesDefinedAbove(op->getRegions(), used);
    for (mlir::Value value : used)
      if (!isConstant(value))
        inputs.push_back(value);
    auto builder = mlir::OpBuilder::atBlockEnd(module.getBody());
    function = mlir::func::FuncOp::create(
        builder, op->getLoc(), kAlone,
        builder.getFunctionType(mlir::ValueRange(inputs).getTypes(), op->getResultTypes()));
    mlir::Block* body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
    mlir::IRMapping copies;
    copies.map(mlir::ValueRange(inputs), body->getArguments());
    for (mlir::Value value : used)
      if (isConstant(value))
        builder.clone(*value.getDefiningOp(), copies);
    mlir::Operation* copy = builder.clone(*op, copies);
    mlir::func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
  }
  Alone(const Alone&) = delete;
  ~Alone() { function.erase(); }

  llvm::SmallVector<mlir::Value> inputs;

private:
  mlir::func::FuncOp function;
};

llvm::Expected<std::vector<Value>> results(const Backend& backend, mlir::ModuleOp module,
                                           const std::vector<Value>& operands,
                                           const program::RunContext& host) {
  auto executable = backend.prepare(module, kAlone);
  if (!executable)
    return executable.takeError();
  return llvmExpected((*executable)->run(operands, host));
}

} // namespace

llvm::Expected<std::optional<Deviation>>
firstDeviation(mlir::func::FuncOp function, const std::vector<Value>& arguments,
               const Backend& backend, const program::RunContext& host,
               llvm::function_ref<bool(const Value& expected, const Value& found)> fits) {
  // The function is removed so that it is not prepared each time.
  mlir::OwningOpRef<mlir::ModuleOp> module = function->getParentOfType<mlir::ModuleOp>().clone();
  module->lookupSymbol(function.getName())->erase();
  llvm::DenseMap<mlir::Value, Value> values;
  for (auto [argument, value] : llvm::zip(function.getArguments(), arguments))
    values[argument] = value;
  for (mlir::Operation& op : function.getBody().front().without_terminator()) {
    if (op.getNumResults() == 0 || isConstant(op.getResult(0)))
      continue;
    const Alone alone(*module, &op);
    std::vector<Value> operands;
    for (mlir::Value input : alone.inputs)
      operands.push_back(values.at(input));
    auto expected = results(*all().front(), *module, operands, host);
    if (!expected)
      return expected.takeError();
    auto found = results(backend, *module, operands, host);
    if (!found)
      return found.takeError();
    for (std::size_t i = 0; i < expected->size(); ++i) {
      if (!fits((*expected)[i], (*found)[i]))
        return Deviation{op.getName().getStringRef().str(), locationText(op.getLoc()),
                         std::move((*expected)[i]), std::move((*found)[i])};
      values[op.getResult(static_cast<unsigned>(i))] = std::move((*expected)[i]);
    }
  }
  return std::nullopt;
}

} // namespace octavo::session
