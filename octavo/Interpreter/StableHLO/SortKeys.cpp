#include "octavo/Interpreter/StableHLO/SortKeys.h"

#include "octavo/Dialect/StableHLO/ComparatorKeys.h"
#include "octavo/Interpreter/Tensor/Elements.h"
#include "octavo/Interpreter/Tensor/Movement.h"
#include "octavo/Interpreter/Tensor/TotalOrder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

namespace {

/// Evaluates a key, a function of the left elements, on whole inputs.
class WholeInputs {
public:
  WholeInputs(const Operands& inputs, Evaluation& evaluation)
      : inputs(inputs), evaluation(evaluation) {}

  llvm::Expected<Value> of(mlir::Value value) {
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      return inputs[argument.getArgNumber() / 2];
    if (const auto found = known.find(value); found != known.end())
      return found->second;
    mlir::Operation* op = value.getDefiningOp();
    llvm::SmallVector<Value, 4> operands;
    for (mlir::Value operand : op->getOperands()) {
      llvm::Expected<Value> whole = of(operand);
      if (!whole)
        return whole.takeError();
      operands.push_back(std::move(*whole));
    }
    const Evaluator evaluator = evaluators().find(op->getName().getStringRef());
    if (evaluator == nullptr)
      return failure(op, "the interpreter has no evaluator for this operation");
    llvm::Expected<Results> result = evaluator(op, operands, evaluation);
    if (!result)
      return result.takeError();
    Value whole = std::move(result->front());
    if (op->hasTrait<mlir::OpTrait::ConstantLike>())
      whole = Value(broadcastScalar(whole.tensor(), inputs[0].tensor().shape));
    known[value] = whole;
    return whole;
  }

private:
  const Operands& inputs;
  Evaluation& evaluation;
  llvm::DenseMap<mlir::Value, Value> known;
};

} // namespace

std::vector<std::int64_t> totalOrderKeys(const Tensor& tensor, bool isDescending) {
  std::vector<std::int64_t> keys(static_cast<std::size_t>(tensor.size()));
  const std::int64_t flip = isDescending ? -1 : 0;
  if (tensor.type.isFloat()) {
    const ElementFormat& format = tensor.type.format();
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = totalOrder(format, tensor.code(static_cast<std::int64_t>(i))) ^ flip;
    return keys;
  }
  // Flipping the highest bit turns unsigned order into signed order.
  const IntegerType type = tensor.type.integer();
  const std::uint64_t highest =
      type.isUnsigned && type.width == 64 ? std::uint64_t{1} << 63 : std::uint64_t{0};
  const std::vector<std::uint64_t> values = decodeIntegers(tensor);
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<std::int64_t>(values[i] ^ highest) ^ flip;
  return keys;
}

llvm::Expected<std::optional<SortKeys>> sortKeys(mlir::Region& comparator, const Operands& inputs,
                                                 Evaluation& evaluation) {
  const auto found = stablehlo::comparatorKeys(comparator);
  if (!found)
    return std::nullopt;
  SortKeys keys;
  WholeInputs whole(inputs, evaluation);
  for (const stablehlo::ComparatorKey& key : *found) {
    llvm::Expected<Value> value = whole.of(key.left);
    if (!value)
      return value.takeError();
    const Tensor& tensor = value->tensor();
    if (!tensor.type.isFloat() && !tensor.type.isInteger())
      return std::nullopt;
    if (tensor.type.isInteger() || key.isTotalOrder) {
      keys.push_back(totalOrderKeys(tensor, key.isDescending));
      continue;
    }
    // IEEE's order is the total order with a single zero. NaN has no position in it.
    std::vector<double> values = decodeElements(tensor);
    if (llvm::any_of(values, [](double x) { return x != x; }))
      return std::nullopt;
    for (double& x : values)
      x += 0.0;
    keys.push_back(
        totalOrderKeys(encodeElements(kF64.format(), tensor.shape, values), key.isDescending));
  }
  return keys;
}

} // namespace octavo::interpreter
