// Evaluates StableHLO's dynamic family: shapes, sizes and paddings as operands.
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Interpreter/Evaluator.h"
#include "octavo/Interpreter/StableHLO/ConvolutionOperands.h"
#include "octavo/Interpreter/StableHLO/GatherOperands.h"
#include "octavo/Interpreter/StableHLO/QuantizedEvaluator.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

namespace {

using Numbers = std::vector<std::int64_t>;

/// The numbers in an operand of integers or indices.
Numbers numbersOf(const Value& value) {
  Numbers numbers;
  for (std::uint64_t number : decodeIntegers(value.tensor()))
    numbers.push_back(static_cast<std::int64_t>(number));
  return numbers;
}

/// The shape in an operand; an error at `op` if it is not a valid shape of a tensor.
llvm::Expected<Numbers> shapeFrom(mlir::Operation* op, const Value& value) {
  Numbers shape = numbersOf(value);
  for (std::int64_t extent : shape)
    if (extent < 0)
      return failure(op, "is given a shape with a negative extent, " + llvm::Twine(extent));
  if (llvm::Error error = checkResultShape(op, shape))
    return std::move(error);
  return shape;
}

llvm::Expected<Value> evaluateDynamicBroadcastInDim(stablehlo::DynamicBroadcastInDimOp op,
                                                    const Operands& operands, Evaluation&) {
  llvm::Expected<Numbers> shape = shapeFrom(op, operands[1]);
  if (!shape)
    return shape.takeError();
  const Tensor& x = operands[0].tensor();
  for (auto [axis, target] : llvm::enumerate(op.getBroadcastDimensions()))
    if (x.shape[axis] != 1 && x.shape[axis] != (*shape)[target])
      return failure(op, "cannot broadcast axis " + llvm::Twine(axis) + " of " +
                             describe(operands[0]) + " to " + llvm::Twine((*shape)[target]));
  return moved(op, broadcastInDim(x, std::move(*shape), op.getBroadcastDimensions()));
}

llvm::Expected<Value> evaluateDynamicConv(stablehlo::DynamicConvOp op, const Operands& operands,
                                          Evaluation&) {
  return convolveOperands(
      op, operands[0], operands[1],
      {op.getWindowStrides(), op.getLhsDilation(), op.getRhsDilation(), op.getWindowReversal(),
       std::nullopt, op.getDimensionNumbers(), static_cast<std::int64_t>(op.getFeatureGroupCount()),
       static_cast<std::int64_t>(op.getBatchGroupCount()), op.getPrecisionConfig()},
      numbersOf(operands[2]));
}

llvm::Expected<Value> evaluateDynamicGather(stablehlo::DynamicGatherOp op, const Operands& operands,
                                            Evaluation&) {
  const Numbers sizes = numbersOf(operands[2]);
  const stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  if (llvm::any_of(sizes, [](std::int64_t size) { return size < 0; }))
    return failure(op, "takes slices of a negative size");
  for (llvm::ArrayRef<std::int64_t> dropped :
       {numbers.getCollapsedSliceDims(), numbers.getOperandBatchingDims()})
    for (std::int64_t axis : dropped)
      if (sizes[axis] > 1)
        return failure(op, "takes slices of " + llvm::Twine(sizes[axis]) + " on axis " +
                               llvm::Twine(axis) + ", which the result does not have");
  return gatherOperands(op, operands[0], operands[1], numbers, sizes);
}

llvm::Expected<Value> evaluateDynamicIota(stablehlo::DynamicIotaOp op, const Operands& operands,
                                          Evaluation&) {
  llvm::Expected<Numbers> shape = shapeFrom(op, operands[0]);
  if (!shape)
    return shape.takeError();
  llvm::Expected<ElementType> type = resultNumberType(op);
  if (!type)
    return type.takeError();
  return Value(iota(*type, std::move(*shape), static_cast<std::int64_t>(op.getIotaDimension())));
}

llvm::Expected<Value> evaluateDynamicPad(stablehlo::DynamicPadOp op, const Operands& operands,
                                         Evaluation&) {
  const Tensor& x = operands[0].tensor();
  const Numbers low = numbersOf(operands[2]), high = numbersOf(operands[3]);
  const Numbers interior = numbersOf(operands[4]);
  if (llvm::any_of(interior, [](std::int64_t count) { return count < 0; }))
    return failure(op, "is given a negative interior padding");
  const std::optional<Numbers> shape = paddedShape(x.shape, low, high, interior);
  if (!shape)
    return failure(op, "pads " + describe(operands[0]) +
                           " to a negative extent, or one that does not fit 63 bits");
  if (llvm::Error error = checkResultShape(op, *shape))
    return std::move(error);
  return Value(pad(x, operands[1].tensor(), low, high, interior));
}

llvm::Expected<Value> evaluateDynamicReshape(stablehlo::DynamicReshapeOp op,
                                             const Operands& operands, Evaluation&) {
  llvm::Expected<Numbers> shape = shapeFrom(op, operands[1]);
  if (!shape)
    return shape.takeError();
  if (numerics::elementCount(*shape) != operands[0].tensor().size())
    return failure(op, describe(operands[0]) + " has " + llvm::Twine(operands[0].tensor().size()) +
                           " elements, the shape that it is given " +
                           llvm::Twine(numerics::elementCount(*shape)));
  return moved(op, reshape(operands[0].takeTensor(), std::move(*shape)));
}

llvm::Expected<Value> evaluateGetDimensionSize(stablehlo::GetDimensionSizeOp op,
                                               const Operands& operands, Evaluation&) {
  const std::int64_t extent = operands[0].tensor().shape[op.getDimension()];
  Tensor result = Tensor::zeros(IntegerType{32, false}, {});
  result.as<std::int32_t>()[0] = static_cast<std::int32_t>(extent);
  return Value(std::move(result));
}

llvm::Expected<Value> evaluateRealDynamicSlice(stablehlo::RealDynamicSliceOp op,
                                               const Operands& operands, Evaluation&) {
  const Tensor& x = operands[0].tensor();
  const Numbers start = numbersOf(operands[1]), limit = numbersOf(operands[2]);
  const Numbers strides = numbersOf(operands[3]);
  for (std::size_t axis = 0; axis < start.size(); ++axis)
    if (start[axis] < 0 || start[axis] > limit[axis] || limit[axis] > x.shape[axis] ||
        strides[axis] <= 0)
      return failure(op, "takes " + llvm::Twine(start[axis]) + ":" + llvm::Twine(limit[axis]) +
                             ":" + llvm::Twine(strides[axis]) + " on axis " + llvm::Twine(axis) +
                             " of " + describe(operands[0]));
  Numbers shape;
  for (std::size_t axis = 0; axis < start.size(); ++axis)
    shape.push_back(
        limit[axis] == start[axis] ? 0 : (limit[axis] - start[axis] - 1) / strides[axis] + 1);
  if (llvm::Error error = checkResultShape(op, shape))
    return std::move(error);
  return Value(slice(x, start, limit, strides));
}

/// The extent becomes the size: elements beyond it are removed, so that other operations see only
/// valid elements.
llvm::Expected<Value> evaluateSetDimensionSize(stablehlo::SetDimensionSizeOp op,
                                               const Operands& operands, Evaluation&) {
  const Tensor& x = operands[0].tensor();
  const auto axis = static_cast<std::size_t>(op.getDimension());
  const std::int64_t size = operands[1].tensor().as<std::int32_t>()[0];
  if (size < 0 || size > x.shape[axis])
    return failure(op, "sets axis " + llvm::Twine(axis) + " of " + describe(operands[0]) + " to " +
                           llvm::Twine(size));
  if (size == x.shape[axis])
    return std::move(operands[0]);
  Numbers limit = x.shape;
  limit[axis] = size;
  return Value(slice(x, Numbers(limit.size(), 0), limit, Numbers(limit.size(), 1)));
}

} // namespace

void registerDynamic(EvaluatorTable& table) {
  table.add<evaluateDynamicBroadcastInDim>();
  table.addByNumbers<evaluateDynamicConv>();
  table.add<evaluateDynamicGather>();
  table.addByNumbers<evaluateDynamicIota>();
  table.add<evaluateDynamicPad>();
  table.add<evaluateDynamicReshape>();
  table.add<evaluateGetDimensionSize>();
  table.add<evaluateRealDynamicSlice>();
  table.add<evaluateSetDimensionSize>();
}

} // namespace octavo::interpreter
