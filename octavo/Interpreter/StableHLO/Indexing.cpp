// Evaluates StableHLO's indexing family: operations whose indices are data.
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Interpreter/StableHLO/Combiner.h"
#include "octavo/Interpreter/StableHLO/ElementwiseEvaluator.h"
#include "octavo/Interpreter/StableHLO/GatherOperands.h"
#include "octavo/Interpreter/StableHLO/MappedRegion.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Movement.h"
#include "octavo/Interpreter/Tensor/Scatter.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

namespace {

llvm::Expected<Value> evaluateGather(stablehlo::GatherOp op, const Operands& operands,
                                     Evaluation&) {
  return gatherOperands(op, operands[0], operands[1], op.getDimensionNumbers(), op.getSliceSizes());
}

std::vector<const Tensor*> tensorsOf(const Operands& operands) {
  std::vector<const Tensor*> tensors;
  for (const Value& operand : operands)
    tensors.push_back(&operand.tensor());
  return tensors;
}

llvm::Expected<Value> evaluateDynamicSlice(stablehlo::DynamicSliceOp op, const Operands& operands,
                                           Evaluation&) {
  const Tensor& x = operands[0].tensor();
  for (auto [extent, size] : llvm::zip(x.shape, op.getSliceSizes()))
    if (size > extent)
      return failure(op, "takes slices of " + llvm::Twine(size) + " of " + describe(operands[0]));
  const std::vector<std::int64_t> start =
      clampedStarts(tensorsOf(operands.drop_front()), x.shape, op.getSliceSizes());
  std::vector<std::int64_t> limit;
  for (auto [first, size] : llvm::zip(start, op.getSliceSizes()))
    limit.push_back(first + size);
  return Value(slice(x, start, limit, std::vector<std::int64_t>(start.size(), 1)));
}

llvm::Expected<Value> evaluateDynamicUpdateSlice(stablehlo::DynamicUpdateSliceOp op,
                                                 const Operands& operands, Evaluation&) {
  const std::vector<std::int64_t>& shape = operands[0].tensor().shape;
  const Tensor& update = operands[1].tensor();
  for (auto [extent, size] : llvm::zip(shape, update.shape))
    if (size > extent)
      return failure(op, describe(operands[1]) + " does not fit into " + describe(operands[0]));
  const std::vector<std::int64_t> start =
      clampedStarts(tensorsOf(operands.drop_front(2)), shape, update.shape);
  Tensor target = operands[0].takeTensor();
  updateSlice(target, update, start);
  return Value(std::move(target));
}

/// Applies the region to one element after the other, in order, so that a repeated place sees
/// earlier updates.
llvm::Error scatterByRegion(stablehlo::ScatterOp op, std::vector<Tensor>& targets,
                            const Operands& updates, std::span<const std::int64_t> places,
                            Evaluation& evaluation) {
  llvm::Expected<MappedRegion> body =
      MappedRegion::prepare(op.getUpdateComputation(), {}, evaluation);
  if (!body)
    return body.takeError();
  const std::size_t count = targets.size();
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0)
      continue;
    std::vector<Value> arguments;
    for (std::size_t k = 0; k < count; ++k)
      arguments.push_back(elementOf(targets[k], places[i], body->argumentTypes()[k]));
    for (std::size_t k = 0; k < count; ++k)
      arguments.push_back(elementOf(updates[k].tensor(), static_cast<std::int64_t>(i),
                                    body->argumentTypes()[count + k]));
    llvm::Expected<Results> values = body->apply(std::move(arguments), evaluation);
    if (!values)
      return values.takeError();
    for (std::size_t k = 0; k < count; ++k)
      std::ranges::copy((*values)[k].tensor().bytes, targets[k].element(places[i]).begin());
  }
  return llvm::Error::success();
}

llvm::Expected<Results> evaluateScatter(stablehlo::ScatterOp op, const Operands& operands,
                                        Evaluation& evaluation) {
  const std::size_t count = operands.size() / 2;
  const Operands inputs = operands.take_front(count), updates = operands.take_back(count);
  if (llvm::Error error = requireOneShape(op, inputs))
    return std::move(error);
  if (llvm::Error error = requireOneShape(op, updates))
    return std::move(error);
  const stablehlo::ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  const ScatterDimensions dimensions{
      .updateWindowDims = numbers.getUpdateWindowDims().vec(),
      .insertedWindowDims = numbers.getInsertedWindowDims().vec(),
      .inputBatchingDims = numbers.getInputBatchingDims().vec(),
      .scatterIndicesBatchingDims = numbers.getScatterIndicesBatchingDims().vec(),
      .scatterDimsToOperandDims = numbers.getScatterDimsToOperandDims().vec(),
      .indexVectorDim = numbers.getIndexVectorDim()};
  const Tensor& indices = operands[count].tensor();
  // Extents that the types left unknown are known now.
  std::vector<std::int64_t> expected;
  for (std::size_t axis = 0; axis < indices.shape.size(); ++axis)
    if (static_cast<std::int64_t>(axis) != dimensions.indexVectorDim)
      expected.push_back(indices.shape[axis]);
  std::vector<std::int64_t> found;
  for (auto [axis, extent] : llvm::enumerate(updates[0].tensor().shape))
    if (!llvm::is_contained(dimensions.updateWindowDims, static_cast<std::int64_t>(axis)))
      found.push_back(extent);
  const std::int64_t length =
      dimensions.indexVectorDim < static_cast<std::int64_t>(indices.shape.size())
          ? indices.shape[dimensions.indexVectorDim]
          : 1;
  if (expected != found ||
      length != static_cast<std::int64_t>(dimensions.scatterDimsToOperandDims.size()))
    return failure(op, "takes an update for each index; found " + describe(operands[count]) +
                           " and " + describe(updates[0]));

  const std::vector<std::int64_t> places =
      scatterPlaces(inputs[0].tensor().shape, indices, updates[0].tensor().shape, dimensions);
  std::vector<Tensor> targets;
  for (auto [input, result] : llvm::zip(inputs, op.getResults())) {
    llvm::Expected<ElementType> type = elementTypeOf(op, result.getType());
    if (!type)
      return type.takeError();
    targets.push_back(converted(input.takeTensor(), *type));
  }
  const auto isOneType = [&] {
    return llvm::all_of_zip(targets, updates, [](const Tensor& target, const Value& update) {
      return target.type == update.tensor().type;
    });
  };
  const Combiner* combiner =
      count == 1 ? findCombiner(op.getUpdateComputation(), targets[0].type) : nullptr;
  if (isOneType() && combiner != nullptr) {
    combiner->scatter(targets[0], updates[0].tensor(), places);
  } else if (isOneType() && overwrites(op.getUpdateComputation())) {
    for (auto [target, update] : llvm::zip(targets, updates))
      overwrite(target, update.tensor(), places);
  } else if (llvm::Error error = scatterByRegion(op, targets, updates, places, evaluation)) {
    return std::move(error);
  }
  return Results(std::make_move_iterator(targets.begin()), std::make_move_iterator(targets.end()));
}

/// gather along one axis, with shared leading batch axes.
llvm::Expected<Value> evaluateTorchIndexSelect(stablehlo::TorchIndexSelectOp op,
                                               const Operands& operands, Evaluation&) {
  const Tensor& x = operands[0].tensor();
  const Tensor& index = operands[1].tensor();
  const auto dim = static_cast<std::int64_t>(op.getDim());
  const auto batch = static_cast<std::int64_t>(op.getBatchDims());
  const auto rank = static_cast<std::int64_t>(x.shape.size());
  const auto indexRank = static_cast<std::int64_t>(index.shape.size());
  GatherDimensions dimensions;
  for (std::int64_t axis = 0; axis < batch; ++axis) {
    if (x.shape[axis] != index.shape[axis])
      return failure(op, "pairs batch axes of different extents; found " + describe(operands[0]) +
                             " and " + describe(operands[1]));
    dimensions.operandBatchingDims.push_back(axis);
    dimensions.startIndicesBatchingDims.push_back(axis);
  }
  dimensions.collapsedSliceDims = {dim};
  dimensions.startIndexMap = {dim};
  dimensions.indexVectorDim = indexRank;
  // Axes of the result: batch, axes before dim, axes of the index, axes after dim.
  for (std::int64_t axis = batch; axis < dim; ++axis)
    dimensions.offsetDims.push_back(axis);
  for (std::int64_t axis = dim + 1; axis < rank; ++axis)
    dimensions.offsetDims.push_back(axis - 1 + indexRank - batch);
  std::vector<std::int64_t> sizes = x.shape;
  std::fill_n(sizes.begin(), batch, 1);
  sizes[dim] = 1;
  if (x.shape[dim] == 0 && index.size() != 0)
    return failure(op, "selects from an axis of no elements; found " + describe(operands[0]));
  return Value(gather(x, index, dimensions, sizes));
}

} // namespace

void registerIndexing(EvaluatorTable& table) {
  table.add<evaluateDynamicSlice>();
  table.add<evaluateDynamicUpdateSlice>();
  table.add<evaluateGather>();
  table.add<evaluateScatter>();
  table.add<evaluateTorchIndexSelect>();
}

} // namespace octavo::interpreter
