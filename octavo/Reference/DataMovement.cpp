// StableHLO, data movement family, and the operations that make tensors from nothing.
#include "octavo/Dialect/StableHLO/StableHLO.h"
#include "octavo/Reference/Constants.h"
#include "octavo/Reference/Evaluator.h"
#include "octavo/Reference/Movement.h"

namespace octavo::reference {

namespace {

llvm::Expected<Value> evaluateConstant(stablehlo::ConstantOp op, const Operands&, Evaluation&) {
  llvm::Expected<Tensor> tensor = constantTensor(op, op.getValue());
  if (!tensor)
    return tensor.takeError();
  return Value(std::move(*tensor));
}

llvm::Expected<Value> evaluateIota(stablehlo::IotaOp op, const Operands&, Evaluation&) {
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  return Value(iota(result->type, result->shape, static_cast<std::int64_t>(op.getIotaDimension())));
}

llvm::Expected<Value> evaluateBroadcastInDim(stablehlo::BroadcastInDimOp op,
                                             const Operands& operands, Evaluation&) {
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  return Value(broadcastInDim(operands[0].tensor(), result->shape, op.getBroadcastDimensions()));
}

llvm::Expected<Value> evaluateReshape(stablehlo::ReshapeOp op, const Operands& operands,
                                      Evaluation&) {
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  return Value(reshape(operands[0].tensor(), result->shape));
}

llvm::Expected<Value> evaluateTranspose(stablehlo::TransposeOp op, const Operands& operands,
                                        Evaluation&) {
  return Value(transpose(operands[0].tensor(), op.getPermutation()));
}

llvm::Expected<Value> evaluateReverse(stablehlo::ReverseOp op, const Operands& operands,
                                      Evaluation&) {
  return Value(reverse(operands[0].tensor(), op.getDimensions()));
}

llvm::Expected<Value> evaluateSlice(stablehlo::SliceOp op, const Operands& operands, Evaluation&) {
  return Value(
      slice(operands[0].tensor(), op.getStartIndices(), op.getLimitIndices(), op.getStrides()));
}

llvm::Expected<Value> evaluatePad(stablehlo::PadOp op, const Operands& operands, Evaluation&) {
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  return Value(pad(operands[0].tensor(), operands[1].tensor(), result->shape,
                   op.getEdgePaddingLow(), op.getInteriorPadding()));
}

llvm::Expected<Value> evaluateConcatenate(stablehlo::ConcatenateOp op, const Operands& operands,
                                          Evaluation&) {
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  std::vector<const Tensor*> inputs;
  for (const Value& operand : operands)
    inputs.push_back(&operand.tensor());
  return Value(concatenate(inputs, result->shape, static_cast<std::int64_t>(op.getDimension())));
}

} // namespace

void registerDataMovement(EvaluatorTable& table) {
  table.add<evaluateBroadcastInDim>();
  table.add<evaluateConcatenate>();
  table.add<evaluateConstant>();
  table.add<evaluateIota>();
  table.add<evaluatePad>();
  table.add<evaluateReshape>();
  table.add<evaluateReverse>();
  table.add<evaluateSlice>();
  table.add<evaluateTranspose>();
}

} // namespace octavo::reference
