// StableHLO, reduction family.
#include "octavo/Dialect/StableHLO/StableHLO.h"
#include "octavo/Reference/Arithmetic.h"
#include "octavo/Reference/Conversions.h"
#include "octavo/Reference/Evaluator.h"
#include "octavo/Reference/Fold.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::reference {

namespace {

using Fold = Tensor (*)(const Tensor&, const Tensor&, std::span<const std::int64_t>,
                        const ElementType&, std::vector<std::int64_t>);

struct FoldRow {
  llvm::StringRef body;
  Fold fold;
  bool onReals;
};
constexpr FoldRow kFolds[] = {
    {"stablehlo.add", fold<Add>, true},         {"stablehlo.multiply", fold<Multiply>, true},
    {"stablehlo.maximum", fold<Maximum>, true}, {"stablehlo.minimum", fold<Minimum>, true},
    {"stablehlo.and", fold<And>, false},        {"stablehlo.or", fold<Or>, false},
};

/// The row of a body that does one of these operations on its two arguments and returns the result.
const FoldRow* findFold(mlir::Region& body, const ElementType& type) {
  mlir::Block& block = body.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return nullptr;
  mlir::Operation& op = block.front();
  const bool isPlain = op.getNumOperands() == 2 && op.getNumResults() == 1 &&
                       op.getOperand(0) == block.getArgument(0) &&
                       op.getOperand(1) == block.getArgument(1) &&
                       block.back().getOperands() == op.getResults();
  if (!isPlain)
    return nullptr;
  const auto* row = llvm::find_if(kFolds, [&](const FoldRow& row) {
    return row.body == op.getName().getStringRef() && (row.onReals || type.isInteger());
  });
  return row == std::end(kFolds) ? nullptr : row;
}

/// Any other body: evaluated for each element, in row-major order, in the body's own types.
llvm::Expected<Results> reduceByRegion(stablehlo::ReduceOp op, const Operands& operands,
                                       Evaluation& evaluation) {
  const std::size_t count = operands.size() / 2;
  mlir::Region& body = op.getBody();
  std::vector<ElementType> argumentTypes;
  std::vector<TensorShape> results;
  for (mlir::Type type : body.getArgumentTypes()) {
    llvm::Expected<TensorShape> shape = tensorShape(op, type);
    if (!shape)
      return shape.takeError();
    argumentTypes.push_back(shape->type);
  }
  if (argumentTypes.size() != operands.size())
    return failure(op, "its body takes " + llvm::Twine(argumentTypes.size()) +
                           " arguments; expected " + llvm::Twine(operands.size()));
  for (mlir::Value result : op.getResults()) {
    llvm::Expected<TensorShape> shape = tensorShape(op, result.getType());
    if (!shape)
      return shape.takeError();
    results.push_back(std::move(*shape));
  }

  const auto element = [](const Tensor& tensor, std::int64_t i, const ElementType& type) {
    Tensor scalar = Tensor::zeros(tensor.type, {});
    scalar.setCode(0, tensor.code(i));
    return Value(convertElements(scalar, type));
  };
  const std::int64_t size = numerics::elementCount(results.front().shape);
  std::vector<std::vector<Value>> sums(static_cast<std::size_t>(size));
  for (std::vector<Value>& sum : sums)
    for (std::size_t k = 0; k < count; ++k)
      sum.push_back(element(operands[count + k].tensor(), 0, argumentTypes[k]));

  llvm::Error error = llvm::Error::success();
  fold_detail::forEachPair(
      operands[0].tensor().shape, op.getDimensions(), [&](std::int64_t i, std::int64_t j) {
        if (error)
          return;
        std::vector<Value> arguments = sums[j];
        for (std::size_t k = 0; k < count; ++k)
          arguments.push_back(element(operands[k].tensor(), i, argumentTypes[count + k]));
        llvm::Expected<Results> next = evaluation.region(body, std::move(arguments));
        if (next)
          sums[j] = std::move(*next);
        else
          error = next.takeError();
      });
  if (error)
    return std::move(error);

  Results values;
  for (std::size_t k = 0; k < count; ++k) {
    Tensor result = Tensor::zeros(results[k].type, results[k].shape);
    for (std::int64_t j = 0; j < size; ++j)
      result.setCode(j, convertElements(sums[j][k].tensor(), results[k].type).code(0));
    values.push_back(Value(std::move(result)));
  }
  return values;
}

llvm::Expected<Results> evaluateReduce(stablehlo::ReduceOp op, const Operands& operands,
                                       Evaluation& evaluation) {
  if (operands.size() == 2) {
    llvm::Expected<TensorShape> result = resultShape(op);
    if (!result)
      return result.takeError();
    if (const FoldRow* row = findFold(op.getBody(), result->type))
      return Results{Value(row->fold(operands[0].tensor(), operands[1].tensor(), op.getDimensions(),
                                     result->type, result->shape))};
  }
  return reduceByRegion(op, operands, evaluation);
}

} // namespace

void registerReduction(EvaluatorTable& table) { table.add<evaluateReduce>(); }

} // namespace octavo::reference
