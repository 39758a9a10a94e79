// Evaluates StableHLO's windows family: sliding windows, and batch normalization.
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Dialect/StableHLO/WindowShape.h"
#include "octavo/Interpreter/StableHLO/Combiner.h"
#include "octavo/Interpreter/StableHLO/ConvolutionOperands.h"
#include "octavo/Interpreter/StableHLO/ElementwiseEvaluator.h"
#include "octavo/Interpreter/StableHLO/MappedRegion.h"
#include "octavo/Interpreter/Tensor/BatchNorm.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Movement.h"
#include "octavo/Interpreter/Tensor/Scatter.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

namespace {

using stablehlo::Window;
using stablehlo::WindowAxis;

llvm::Expected<Value> evaluateConvolution(stablehlo::ConvolutionOp op, const Operands& operands,
                                          Evaluation&) {
  std::vector<std::int64_t> padding;
  if (op.getPadding())
    padding.assign(op.getPadding()->value_begin<std::int64_t>(),
                   op.getPadding()->value_end<std::int64_t>());
  return convolveOperands(op, operands[0], operands[1],
                          {op.getWindowStrides(), op.getLhsDilation(), op.getRhsDilation(),
                           op.getWindowReversal(), op.getPadding(), op.getDimensionNumbers(),
                           static_cast<std::int64_t>(op.getFeatureGroupCount()),
                           static_cast<std::int64_t>(op.getBatchGroupCount()),
                           op.getPrecisionConfig()},
                          padding);
}

/// A padded tensor, from which one element of every window can be read at once.
class PaddedTensor {
public:
  PaddedTensor(const Tensor& tensor, const Tensor& padding, const Window& window,
               std::vector<std::int64_t> counts)
      : window(window), counts(std::move(counts)) {
    std::vector<std::int64_t> low, high, interior;
    for (const WindowAxis& axis : window) {
      low.push_back(axis.low);
      high.push_back(axis.high);
      interior.push_back(axis.baseDilation - 1);
    }
    padded = pad(tensor, padding, low, high, interior);
    strides = rowMajorStrides(padded.shape);
  }

  /// For each window, its element at `index` within the window.
  Tensor at(llvm::ArrayRef<std::int64_t> index) const {
    std::int64_t base = 0;
    std::vector<std::int64_t> steps;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      base += index[axis] * window[axis].windowDilation * strides[axis];
      steps.push_back(window[axis].stride * strides[axis]);
    }
    return pick(padded, counts, base, steps);
  }

private:
  const Window& window;
  std::vector<std::int64_t> counts;
  Tensor padded{kBoolean, {}, {}};
  std::vector<std::int64_t> strides;
};

/// The number of windows on each axis. An error at `op` if negative padding removes more elements
/// than there are.
llvm::Expected<std::vector<std::int64_t>> windowCounts(mlir::Operation* op, const Value& operand,
                                                       const Window& window) {
  std::vector<std::int64_t> counts;
  for (auto [extent, axis] : llvm::zip(operand.tensor().shape, window)) {
    const std::optional<std::int64_t> count = stablehlo::windowCount(extent, axis);
    if (!count)
      return failure(op, "pads " + describe(operand) + " to a negative extent");
    counts.push_back(*count);
  }
  if (llvm::Error error = checkSize(op, counts))
    return std::move(error);
  return counts;
}

std::vector<std::int64_t> sizesOf(const Window& window) {
  std::vector<std::int64_t> sizes;
  for (const WindowAxis& axis : window)
    sizes.push_back(axis.size);
  return sizes;
}

/// Rule I10 for each window: the body as written, in its own types. All windows advance together,
/// one step at a time.
llvm::Expected<Results> evaluateReduceWindow(stablehlo::ReduceWindowOp op, const Operands& operands,
                                             Evaluation& evaluation) {
  const std::size_t count = operands.size() / 2;
  if (llvm::Error error = requireOneShape(op, operands.take_front(count)))
    return std::move(error);
  const Window window =
      stablehlo::windowOf(static_cast<std::int64_t>(operands[0].tensor().shape.size()),
                          {.sizes = op.getWindowDimensions(),
                           .strides = op.getWindowStrides(),
                           .baseDilations = op.getBaseDilations(),
                           .windowDilations = op.getWindowDilations(),
                           .padding = op.getPadding()});
  llvm::Expected<std::vector<std::int64_t>> counts = windowCounts(op, operands[0], window);
  if (!counts)
    return counts.takeError();
  std::vector<ElementType> resultTypes;
  for (mlir::Value result : op.getResults()) {
    llvm::Expected<ElementType> type = elementTypeOf(op, result.getType());
    if (!type)
      return type.takeError();
    resultTypes.push_back(std::move(*type));
  }
  const Combiner* combiner = count == 1 && operands[0].tensor().type == resultTypes[0]
                                 ? findCombiner(op.getBody(), resultTypes[0])
                                 : nullptr;
  std::optional<MappedRegion> body;
  if (combiner == nullptr) {
    llvm::Expected<MappedRegion> mapped = MappedRegion::prepare(op.getBody(), *counts, evaluation);
    if (!mapped)
      return mapped.takeError();
    body = std::move(*mapped);
  }
  std::vector<PaddedTensor> inputs;
  Results running;
  for (std::size_t k = 0; k < count; ++k) {
    const ElementType& type = combiner != nullptr ? resultTypes[k] : body->argumentTypes()[k];
    const Tensor init = converted(operands[count + k].tensor(), type);
    inputs.emplace_back(converted(operands[k].tensor(), type), init, window, *counts);
    running.emplace_back(broadcastScalar(init, *counts));
  }
  const std::vector<std::int64_t> sizes = sizesOf(window);
  std::vector<std::int64_t> index(sizes.size(), 0);
  if (numerics::elementCount(*counts) != 0)
    do {
      if (combiner != nullptr) {
        running[0] = Value(combiner->map(running[0].tensor(), inputs[0].at(index)).value());
        continue;
      }
      std::vector<Value> arguments = std::move(running);
      for (const PaddedTensor& input : inputs)
        arguments.emplace_back(input.at(index));
      llvm::Expected<Results> next = body->apply(std::move(arguments), evaluation);
      if (!next)
        return next.takeError();
      running = std::move(*next);
    } while (nextIndex(index, sizes));
  for (auto [value, type] : llvm::zip(running, resultTypes))
    value = Value(converted(value.takeTensor(), type));
  return running;
}

/// For each window, the number of the operand's element that `select` selects; -1 if the window has
/// no element.
llvm::Expected<std::vector<std::int64_t>>
selectedPlaces(stablehlo::SelectAndScatterOp op, const Tensor& operand, const Window& window,
               const std::vector<std::int64_t>& counts, Evaluation& evaluation) {
  llvm::Expected<MappedRegion> select = MappedRegion::prepare(op.getSelect(), counts, evaluation);
  if (!select)
    return select.takeError();
  const ElementType numberType(IntegerType{64, false});
  Tensor numbers = Tensor::zeros(numberType, operand.shape);
  for (std::int64_t i = 0; i < numbers.size(); ++i)
    numbers.as<std::int64_t>()[i] = i;
  Tensor none = Tensor::zeros(numberType, {});
  none.as<std::int64_t>()[0] = -1;
  const PaddedTensor values(operand, Tensor::zeros(operand.type, {}), window, counts);
  const PaddedTensor places(numbers, none, window, counts);

  std::vector<std::int64_t> kept(static_cast<std::size_t>(numerics::elementCount(counts)), -1);
  Value best(Tensor::zeros(operand.type, counts));
  const std::vector<std::int64_t> sizes = sizesOf(window);
  std::vector<std::int64_t> index(sizes.size(), 0);
  if (!kept.empty())
    do {
      const Value candidate(values.at(index));
      const Tensor candidatePlaces = places.at(index);
      llvm::Expected<Results> keeps = select->apply({best, candidate}, evaluation);
      if (!keeps)
        return keeps.takeError();
      const Tensor& isKept = keeps->front().tensor();
      Tensor next = best.takeTensor();
      for (std::size_t i = 0; i < kept.size(); ++i) {
        const std::int64_t place = candidatePlaces.as<std::int64_t>()[i];
        const auto at = static_cast<std::int64_t>(i);
        if (place < 0 || (kept[i] >= 0 && isKept.code(at) != 0))
          continue;
        kept[i] = place;
        std::ranges::copy(candidate.tensor().element(at), next.element(at).begin());
      }
      best = Value(std::move(next));
    } while (nextIndex(index, sizes));
  return kept;
}

llvm::Expected<Value> evaluateSelectAndScatter(stablehlo::SelectAndScatterOp op,
                                               const Operands& operands, Evaluation& evaluation) {
  const Tensor& operand = operands[0].tensor();
  const Tensor& source = operands[1].tensor();
  const Window window = stablehlo::windowOf(static_cast<std::int64_t>(operand.shape.size()),
                                            {.sizes = op.getWindowDimensions(),
                                             .strides = op.getWindowStrides(),
                                             .baseDilations = std::nullopt,
                                             .windowDilations = std::nullopt,
                                             .padding = op.getPadding()});
  llvm::Expected<std::vector<std::int64_t>> counts = windowCounts(op, operands[0], window);
  if (!counts)
    return counts.takeError();
  if (source.shape != *counts)
    return failure(op, "takes a source element for each window; found " + describe(operands[1]));
  llvm::Expected<std::vector<std::int64_t>> places =
      selectedPlaces(op, operand, window, *counts, evaluation);
  if (!places)
    return places.takeError();
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  Tensor result = broadcastScalar(converted(operands[2].tensor(), *type), operand.shape);
  if (const Combiner* combiner = findCombiner(op.getScatter(), *type);
      combiner != nullptr && source.type == *type) {
    combiner->scatter(result, source, *places);
    return Value(std::move(result));
  }
  llvm::Expected<MappedRegion> scatter = MappedRegion::prepare(op.getScatter(), {}, evaluation);
  if (!scatter)
    return scatter.takeError();
  for (auto [i, place] : llvm::enumerate(*places)) {
    if (place < 0)
      continue;
    llvm::Expected<Results> sum = scatter->apply(
        {elementOf(result, place, scatter->argumentTypes()[0]),
         elementOf(source, static_cast<std::int64_t>(i), scatter->argumentTypes()[1])},
        evaluation);
    if (!sum)
      return sum.takeError();
    std::ranges::copy(sum->front().tensor().bytes, result.element(place).begin());
  }
  return Value(std::move(result));
}

/// An error at `op` unless each list has one number for each feature, in the operand's float
/// format.
llvm::Error checkFeatures(mlir::Operation* op, const Tensor& operand, const Operands& lists,
                          std::int64_t feature) {
  if (!operand.type.isFloat())
    return failure(op, Undefined{operand.type}.message());
  for (const Value& list : lists)
    if (list.tensor().shape != std::vector{operand.shape[feature]})
      return failure(op, "takes a number for each feature of " + describe(Value(operand)) +
                             "; found " + describe(list));
  return llvm::Error::success();
}

llvm::Expected<Value> evaluateBatchNormInference(stablehlo::BatchNormInferenceOp op,
                                                 const Operands& operands, Evaluation&) {
  const auto feature = static_cast<std::int64_t>(op.getFeatureIndex());
  const Tensor& x = operands[0].tensor();
  if (llvm::Error error = checkFeatures(op, x, operands.drop_front(), feature))
    return std::move(error);
  return Value(batchNormInference(x, operands[1].tensor(), operands[2].tensor(),
                                  operands[3].tensor(), operands[4].tensor(),
                                  op.getEpsilon().convertToFloat(), feature));
}

llvm::Expected<Results> evaluateBatchNormTraining(stablehlo::BatchNormTrainingOp op,
                                                  const Operands& operands, Evaluation&) {
  const auto feature = static_cast<std::int64_t>(op.getFeatureIndex());
  const Tensor& x = operands[0].tensor();
  if (llvm::Error error = checkFeatures(op, x, operands.drop_front(), feature))
    return std::move(error);
  BatchNormTraining results = batchNormTraining(x, operands[1].tensor(), operands[2].tensor(),
                                                op.getEpsilon().convertToFloat(), feature);
  return Results{Value(std::move(results.output)), Value(std::move(results.mean)),
                 Value(std::move(results.variance))};
}

llvm::Expected<Results> evaluateBatchNormGrad(stablehlo::BatchNormGradOp op,
                                              const Operands& operands, Evaluation&) {
  const auto feature = static_cast<std::int64_t>(op.getFeatureIndex());
  const Tensor& x = operands[0].tensor();
  if (llvm::Error error = checkFeatures(op, x, operands.slice(1, 3), feature))
    return std::move(error);
  if (operands[4].tensor().shape != x.shape)
    return failure(op, "takes gradients of the operand's shape; found " + describe(operands[4]));
  BatchNormGrad results =
      batchNormGrad(x, operands[1].tensor(), operands[2].tensor(), operands[3].tensor(),
                    operands[4].tensor(), op.getEpsilon().convertToFloat(), feature);
  return Results{Value(std::move(results.operand)), Value(std::move(results.scale)),
                 Value(std::move(results.offset))};
}

} // namespace

void registerWindows(EvaluatorTable& table) {
  table.addByNumbers<evaluateBatchNormGrad>();
  table.addByNumbers<evaluateBatchNormInference>();
  table.addByNumbers<evaluateBatchNormTraining>();
  table.addByNumbers<evaluateConvolution>();
  table.add<evaluateReduceWindow>();
  table.add<evaluateSelectAndScatter>();
}

} // namespace octavo::interpreter
