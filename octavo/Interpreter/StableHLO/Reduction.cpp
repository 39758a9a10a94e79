// Evaluates StableHLO's reduction family.
#include "octavo/Dialect/StableHLO/Reduction.h"
#include "octavo/Interpreter/StableHLO/Combiner.h"
#include "octavo/Interpreter/StableHLO/ElementwiseEvaluator.h"
#include "octavo/Interpreter/StableHLO/MappedRegion.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

namespace {

/// Reduces by any body, in the body's types: once for each reduced element, in row-major order, for
/// all results at once.
llvm::Expected<Results> reduceByRegion(stablehlo::ReduceOp op, const Operands& operands,
                                       Evaluation& evaluation) {
  const std::size_t count = operands.size() / 2;
  if (llvm::Error error = requireOneShape(op, operands.take_front(count)))
    return std::move(error);
  const std::vector<std::int64_t>& shape = operands[0].tensor().shape;
  const std::vector<std::int64_t> kept = keptShape(shape, op.getDimensions());
  llvm::Expected<MappedRegion> body = MappedRegion::prepare(op.getBody(), kept, evaluation);
  if (!body)
    return body.takeError();

  Results running;
  for (std::size_t k = 0; k < count; ++k)
    running.emplace_back(
        broadcastScalar(converted(operands[count + k].tensor(), body->argumentTypes()[k]), kept));
  const std::vector<std::int64_t> strides = rowMajorStrides(shape);
  std::vector<std::int64_t> keptStrides, reducedStrides, reducedShape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool isReduced = llvm::is_contained(op.getDimensions(), static_cast<std::int64_t>(axis));
    (isReduced ? reducedStrides : keptStrides).push_back(strides[axis]);
    if (isReduced)
      reducedShape.push_back(shape[axis]);
  }
  std::vector<std::int64_t> index(reducedShape.size(), 0);
  if (numerics::elementCount(shape) != 0)
    do {
      std::int64_t base = 0;
      for (std::size_t axis = 0; axis < index.size(); ++axis)
        base += index[axis] * reducedStrides[axis];
      std::vector<Value> arguments = std::move(running);
      for (std::size_t k = 0; k < count; ++k)
        arguments.emplace_back(converted(pick(operands[k].tensor(), kept, base, keptStrides),
                                         body->argumentTypes()[count + k]));
      llvm::Expected<Results> next = body->apply(std::move(arguments), evaluation);
      if (!next)
        return next.takeError();
      running = std::move(*next);
    } while (nextIndex(index, reducedShape));

  for (auto [value, result] : llvm::zip(running, op.getResults())) {
    llvm::Expected<ElementType> type = elementTypeOf(op, result.getType());
    if (!type)
      return type.takeError();
    value = Value(converted(value.takeTensor(), *type));
  }
  return running;
}

llvm::Expected<Results> evaluateReduce(stablehlo::ReduceOp op, const Operands& operands,
                                       Evaluation& evaluation) {
  if (operands.size() == 2) {
    llvm::Expected<ElementType> type = resultElementType(op);
    if (!type)
      return type.takeError();
    if (const Combiner* combiner = findCombiner(op.getBody(), *type))
      return orFailure(op, combiner->fold(operands[0].tensor(), operands[1].tensor(),
                                          op.getDimensions(), *type));
  }
  return reduceByRegion(op, operands, evaluation);
}

} // namespace

void registerReduction(EvaluatorTable& table) { table.add<evaluateReduce>(); }

} // namespace octavo::interpreter
