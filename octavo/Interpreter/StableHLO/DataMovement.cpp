// Evaluates StableHLO's data movement family, and constants and iota.
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Interpreter/Evaluator.h"
#include "octavo/Interpreter/StableHLO/Constants.h"
#include "octavo/Interpreter/StableHLO/QuantizedEvaluator.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

namespace {

llvm::Expected<Value> evaluateConstant(stablehlo::ConstantOp op, const Operands&, Evaluation&) {
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  llvm::Expected<Tensor> tensor = constantTensor(op, op.getValue());
  if (!tensor)
    return tensor.takeError();
  // A quantized constant is stored as its storage integers.
  tensor->type = *type;
  return Value(std::move(*tensor));
}

llvm::Expected<Value> evaluateIota(stablehlo::IotaOp op, const Operands&, Evaluation&) {
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  llvm::Expected<ElementType> type = resultNumberType(op);
  if (!type)
    return type.takeError();
  return Value(iota(*type, result->shape, static_cast<std::int64_t>(op.getIotaDimension())));
}

llvm::Expected<Value> evaluateBroadcastInDim(stablehlo::BroadcastInDimOp op,
                                             const Operands& operands, Evaluation&) {
  const Tensor& x = operands[0].tensor();
  std::vector<std::int64_t> shape = op.getType().getShape().vec();
  // An extent that the type leaves unknown is the operand's; an extent of 1 is not stretched to it.
  for (auto [axis, target] : llvm::enumerate(op.getBroadcastDimensions()))
    if (mlir::ShapedType::isDynamic(shape[target]))
      shape[target] = x.shape[axis];
  if (llvm::is_contained(shape, mlir::ShapedType::kDynamic))
    return failure(op, "broadcasts to an extent that neither its type nor its operand gives");
  for (auto [axis, target] : llvm::enumerate(op.getBroadcastDimensions()))
    if (x.shape[axis] != 1 && x.shape[axis] != shape[target])
      return failure(op, "cannot broadcast axis " + llvm::Twine(axis) + " of " +
                             describe(operands[0]) + " to " + llvm::Twine(shape[target]));
  if (llvm::Error error = checkResultShape(op, shape))
    return std::move(error);
  return moved(op, broadcastInDim(x, std::move(shape), op.getBroadcastDimensions()));
}

llvm::Expected<Value> evaluateBroadcast(stablehlo::BroadcastOp op, const Operands& operands,
                                        Evaluation&) {
  const Tensor& x = operands[0].tensor();
  std::vector<std::int64_t> shape = op.getBroadcastSizes().vec(), axes;
  for (std::size_t axis = 0; axis < x.shape.size(); ++axis) {
    axes.push_back(static_cast<std::int64_t>(shape.size()));
    shape.push_back(x.shape[axis]);
  }
  if (llvm::Error error = checkSize(op, shape))
    return std::move(error);
  return moved(op, broadcastInDim(x, std::move(shape), axes));
}

llvm::Expected<Value> evaluateReshape(stablehlo::ReshapeOp op, const Operands& operands,
                                      Evaluation&) {
  std::vector<std::int64_t> shape = op.getType().getShape().vec();
  const std::int64_t size = operands[0].tensor().size();
  // At most one extent may be unknown; it follows from the number of elements.
  const auto open = llvm::find(shape, mlir::ShapedType::kDynamic);
  if (open != shape.end()) {
    *open = 1;
    const std::int64_t rest = numerics::elementCount(shape);
    if (rest == 0 || size % rest != 0)
      return failure(op, describe(operands[0]) + " has no reshape to the extents that are known");
    *open = size / rest;
  }
  if (numerics::elementCount(shape) != size)
    return failure(op, describe(operands[0]) + " has " + llvm::Twine(size) +
                           " elements, its result " + llvm::Twine(numerics::elementCount(shape)));
  return moved(op, reshape(operands[0].takeTensor(), std::move(shape)));
}

llvm::Expected<Value> evaluateTranspose(stablehlo::TransposeOp op, const Operands& operands,
                                        Evaluation&) {
  return moved(op, transpose(operands[0].tensor(), op.getPermutation()));
}

llvm::Expected<Value> evaluateReverse(stablehlo::ReverseOp op, const Operands& operands,
                                      Evaluation&) {
  return Value(reverse(operands[0].tensor(), op.getDimensions()));
}

llvm::Expected<Value> evaluateSlice(stablehlo::SliceOp op, const Operands& operands, Evaluation&) {
  const Tensor& x = operands[0].tensor();
  for (auto [extent, limit] : llvm::zip(x.shape, op.getLimitIndices()))
    if (limit > extent)
      return failure(op,
                     "takes up to index " + llvm::Twine(limit) + " of " + describe(operands[0]));
  return Value(slice(x, op.getStartIndices(), op.getLimitIndices(), op.getStrides()));
}

llvm::Expected<Value> evaluatePad(stablehlo::PadOp op, const Operands& operands, Evaluation&) {
  const Tensor& x = operands[0].tensor();
  const auto shape = paddedShape(x.shape, op.getEdgePaddingLow(), op.getEdgePaddingHigh(),
                                 op.getInteriorPadding());
  if (!shape)
    return failure(op, "pads " + describe(operands[0]) +
                           " to a negative extent, or one that does not fit 63 bits");
  if (llvm::Error error = checkResultShape(op, *shape))
    return std::move(error);
  return Value(pad(x, operands[1].tensor(), op.getEdgePaddingLow(), op.getEdgePaddingHigh(),
                   op.getInteriorPadding()));
}

llvm::Expected<Value> evaluateConcatenate(stablehlo::ConcatenateOp op, const Operands& operands,
                                          Evaluation&) {
  std::vector<const Tensor*> inputs;
  const auto dimension = static_cast<std::int64_t>(op.getDimension());
  for (const Value& operand : operands) {
    inputs.push_back(&operand.tensor());
    std::vector<std::int64_t> shape = operand.tensor().shape;
    shape[dimension] = inputs.front()->shape[dimension];
    if (shape != inputs.front()->shape)
      return failure(op, "takes inputs that differ on axis " + llvm::Twine(dimension) +
                             " alone; found " + describe(operands[0]) + " and " +
                             describe(operand));
  }
  return Value(concatenate(inputs, dimension));
}

} // namespace

void registerDataMovement(EvaluatorTable& table) {
  table.add<evaluateBroadcast>();
  table.add<evaluateBroadcastInDim>();
  table.add<evaluateConcatenate>();
  table.add<evaluateConstant>();
  table.addByNumbers<evaluateIota>();
  table.add<evaluatePad>();
  table.add<evaluateReshape>();
  table.add<evaluateReverse>();
  table.add<evaluateSlice>();
  table.add<evaluateTranspose>();
}

} // namespace octavo::interpreter
