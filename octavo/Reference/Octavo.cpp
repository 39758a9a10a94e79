// The octavo dialect: scaled tensors (rules I13, I14).
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Reference/Conversions.h"
#include "octavo/Reference/DimensionNumbers.h"
#include "octavo/Reference/DotGeneral.h"
#include "octavo/Reference/Evaluator.h"
#include "octavo/Reference/ScaledDotGeneral.h"

#include <algorithm>

namespace octavo::reference {

namespace {

std::span<const std::uint32_t> randomBits(const Operands& operands) {
  return operands.size() > 1 ? operands[1].tensor().as<std::uint32_t>()
                             : std::span<const std::uint32_t>();
}

std::string indexText(std::int64_t i, const std::vector<std::int64_t>& shape) {
  std::string text;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    text = std::to_string(i % shape[axis]) + (text.empty() ? "" : ", ") + text;
    i /= shape[axis];
  }
  return "[" + text + "]";
}

llvm::Expected<Value> evaluateQuantize(ir::QuantizeOp op, const Operands& operands, Evaluation&) {
  const Tensor& x = operands[0].tensor();
  const auto type = llvm::cast<ir::ScaledType>(op.getResult().getType());
  numerics::QuantizeResult result = numerics::quantize(
      decodeToF32(x), x.shape, type.getKind(),
      op.getQuantization().getOptions(type, x.type.format()), randomBits(operands));
  if (result.refused) {
    const float value = result.refused->value;
    return failure(op, "the input has " +
                           llvm::Twine(value != value ? "NaN"
                                       : value > 0    ? "Inf"
                                                      : "-Inf") +
                           " at " + indexText(result.refused->index, x.shape) +
                           "; non_finite = propagate makes its block NaN, non_finite = saturate "
                           "takes Inf for the largest value");
  }
  return Value(std::move(result.tensor));
}

/// The values of a scaled tensor in f32.
Tensor dequantized(const ScaledTensor& scaled) {
  Tensor result = Tensor::zeros(kF32, scaled.shape);
  const std::vector<float> values = numerics::dequantize(scaled);
  std::copy(values.begin(), values.end(), result.as<float>().begin());
  return result;
}

llvm::Expected<Value> evaluateDequantize(ir::DequantizeOp op, const Operands& operands,
                                         Evaluation&) {
  return Value(dequantized(operands[0].scaled()));
}

llvm::Expected<Value> evaluatePack(ir::PackOp op, const Operands& operands, Evaluation&) {
  const auto type = llvm::cast<ir::ScaledType>(op.getResult().getType());
  const Tensor& elements = operands[0].tensor();
  const Tensor& scales = operands[1].tensor();
  ScaledTensor result{elements.shape, type.getKind(), {}, {}, 1.0f};
  result.elements.resize(static_cast<std::size_t>(elements.size()));
  for (std::int64_t i = 0; i < elements.size(); ++i)
    result.elements[i] = static_cast<std::uint8_t>(elements.code(i));
  result.scales.resize(static_cast<std::size_t>(scales.size()));
  for (std::int64_t i = 0; i < scales.size(); ++i)
    result.scales[i] = static_cast<std::uint32_t>(scales.code(i));
  if (operands.size() > 2)
    result.outer = operands[2].tensor().as<float>()[0];
  return Value(std::move(result));
}

llvm::Expected<Results> evaluateUnpack(ir::UnpackOp op, const Operands& operands, Evaluation&) {
  const ScaledTensor& x = operands[0].scaled();
  Results results;
  for (mlir::Value value : op->getResults()) {
    llvm::Expected<TensorShape> shape = tensorShape(op, value.getType());
    if (!shape)
      return shape.takeError();
    Tensor part = Tensor::zeros(shape->type, shape->shape);
    const auto copy = [&](const auto& codes) {
      for (std::size_t i = 0; i < codes.size(); ++i)
        part.setCode(static_cast<std::int64_t>(i), codes[i]);
    };
    if (results.empty())
      copy(x.elements);
    else if (results.size() == 1)
      copy(x.scales);
    else
      part.as<float>()[0] = x.outer;
    results.push_back(Value(std::move(part)));
  }
  return results;
}

llvm::Expected<Value> evaluateDotGeneral(ir::DotGeneralOp op, const Operands& operands,
                                         Evaluation&) {
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  const DotDimensions dimensions = dotDimensions(op.getDotDimensionNumbers());
  const auto plain = [](const Value& value) {
    return value.isTensor() ? value.tensor() : dequantized(value.scaled());
  };
  if (!operands[0].isScaled() || !operands[1].isScaled())
    return Value(
        dotGeneral(plain(operands[0]), plain(operands[1]), dimensions, result->type, kF32));
  const std::vector<float> products =
      scaledDotGeneral(operands[0].scaled(), operands[1].scaled(), dimensions);
  return Value(encodeElements(result->type.format(), result->shape, products));
}

llvm::Expected<Value> evaluateConvert(ir::ConvertOp op, const Operands& operands, Evaluation&) {
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  return Value(convertElements(operands[0].tensor(), result->type,
                               op.getConversion().getConversion(), randomBits(operands)));
}

} // namespace

void registerOctavo(EvaluatorTable& table) {
  table.add<evaluateConvert>();
  table.add<evaluateDequantize>();
  table.add<evaluateDotGeneral>();
  table.add<evaluatePack>();
  table.add<evaluateQuantize>();
  table.add<evaluateUnpack>();
}

} // namespace octavo::reference
