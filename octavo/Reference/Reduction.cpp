// StableHLO, reduction family.
#include "octavo/Dialect/StableHLO/Reduction.h"
#include "octavo/Reference/Arithmetic.h"
#include "octavo/Reference/Conversions.h"
#include "octavo/Reference/ElementwiseEvaluator.h"
#include "octavo/Reference/Evaluation.h"
#include "octavo/Reference/Fold.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace octavo::reference {

namespace {

using Fold = Defined<Tensor> (*)(const Tensor&, const Tensor&, std::span<const std::int64_t>,
                                 const ElementType&);

struct FoldRow {
  llvm::StringRef body;
  Fold fold;
  bool (*isDefinedOn)(const ElementType&);
};
template <typename Op> constexpr FoldRow row(llvm::StringRef body) {
  return {body, fold<Op>, isDefinedOn<Op>};
}
constexpr FoldRow kFolds[] = {
    row<Add>("stablehlo.add"),         row<Multiply>("stablehlo.multiply"),
    row<Maximum>("stablehlo.maximum"), row<Minimum>("stablehlo.minimum"),
    row<And>("stablehlo.and"),         row<Or>("stablehlo.or"),
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
    return row.body == op.getName().getStringRef() && row.isDefinedOn(type);
  });
  return row == std::end(kFolds) ? nullptr : row;
}

/// Any other body: evaluated for each element, in row-major order, in the body's own types.
llvm::Expected<Results> reduceByRegion(stablehlo::ReduceOp op, const Operands& operands,
                                       Evaluation& evaluation) {
  const std::size_t count = operands.size() / 2;
  if (llvm::Error error = requireOneShape(op, operands.take_front(count)))
    return std::move(error);
  mlir::Region& body = op.getBody();
  std::vector<ElementType> argumentTypes;
  for (mlir::Type type : body.getArgumentTypes()) {
    llvm::Expected<ElementType> element = elementTypeOf(op, type);
    if (!element)
      return element.takeError();
    argumentTypes.push_back(*element);
  }
  if (argumentTypes.size() != operands.size())
    return failure(op, "its body takes " + llvm::Twine(argumentTypes.size()) +
                           " arguments; expected " + llvm::Twine(operands.size()));
  std::vector<ElementType> resultTypes;
  for (mlir::Value result : op.getResults()) {
    llvm::Expected<ElementType> element = elementTypeOf(op, result.getType());
    if (!element)
      return element.takeError();
    resultTypes.push_back(*element);
  }

  const auto element = [](const Tensor& tensor, std::int64_t i, const ElementType& type) {
    Tensor scalar = Tensor::zeros(tensor.type, {});
    std::ranges::copy(tensor.element(i), scalar.element(0).begin());
    return Value(convertElements(scalar, type));
  };
  const std::vector<std::int64_t> shape = keptShape(operands[0].tensor().shape, op.getDimensions());
  const std::int64_t size = numerics::elementCount(shape);
  std::vector<std::vector<Value>> sums(static_cast<std::size_t>(size));
  for (std::vector<Value>& sum : sums)
    for (std::size_t k = 0; k < count; ++k)
      sum.push_back(element(operands[count + k].tensor(), 0, argumentTypes[k]));

  llvm::Error error = llvm::Error::success();
  forEachPair(operands[0].tensor().shape, op.getDimensions(), [&](std::int64_t i, std::int64_t j) {
    if (error)
      return;
    std::vector<Value> arguments = std::move(sums[j]);
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
    Tensor result = Tensor::zeros(resultTypes[k], shape);
    for (std::int64_t j = 0; j < size; ++j)
      std::ranges::copy(convertElements(sums[j][k].tensor(), resultTypes[k]).bytes,
                        result.element(j).begin());
    values.push_back(Value(std::move(result)));
  }
  return values;
}

llvm::Expected<Results> evaluateReduce(stablehlo::ReduceOp op, const Operands& operands,
                                       Evaluation& evaluation) {
  if (operands.size() == 2) {
    llvm::Expected<ElementType> type = resultElementType(op);
    if (!type)
      return type.takeError();
    if (const FoldRow* row = findFold(op.getBody(), *type))
      return orFailure(
          op, row->fold(operands[0].tensor(), operands[1].tensor(), op.getDimensions(), *type));
  }
  return reduceByRegion(op, operands, evaluation);
}

} // namespace

void registerReduction(EvaluatorTable& table) { table.add<evaluateReduce>(); }

} // namespace octavo::reference
