// Evaluates the octavo dialect: scaled tensors (rules I13, I14).
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/Octavo/QuantizedInput.h"
#include "octavo/Dialect/TextOfOperation.h"
#include "octavo/Interpreter/Evaluation.h"
#include "octavo/Interpreter/Evaluator.h"
#include "octavo/Interpreter/Products/DotGeneral.h"
#include "octavo/Interpreter/Products/ScaledDotGeneral.h"
#include "octavo/Interpreter/StableHLO/DimensionNumbers.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Program/Values/RefusedInput.h"

#include "mlir/Support/DebugStringHelper.h"

#include <algorithm>

namespace octavo::interpreter {

namespace {

std::span<const std::uint32_t> randomBits(const Operands& operands) {
  return operands.size() > 1 ? operands[1].tensor().as<std::uint32_t>()
                             : std::span<const std::uint32_t>();
}

llvm::Error checkRandomBits(mlir::Operation* op, const Operands& operands) {
  if (operands.size() == 1 || operands[1].tensor().shape == operands[0].tensor().shape)
    return llvm::Error::success();
  return failure(op, "needs random bits of the operand's shape; found " + describe(operands[0]) +
                         " and " + describe(operands[1]));
}

ir::TensorPlace placeOf(std::int64_t i, const std::vector<std::int64_t>& shape) {
  ir::TensorPlace place(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; i /= shape[axis])
    place[axis] = i % shape[axis];
  return place;
}

llvm::Expected<Value> evaluateQuantize(ir::QuantizeOp op, const Operands& operands, Evaluation&) {
  const Tensor& x = operands[0].tensor();
  if (llvm::Error error = checkRandomBits(op, operands))
    return std::move(error);
  const auto type = llvm::cast<ir::ScaledType>(op.getResult().getType()).withShape(x.shape);
  numerics::QuantizeResult result = numerics::quantize(
      decodeToF32(x), x.shape, type.getKind(),
      op.getQuantization().getOptions(type, x.type.format()), randomBits(operands));
  if (result.refused) {
    const ir::QuantizedInput input =
        ir::quantizedInput(op, placeOf(result.refused->index, x.shape));
    program::OperationText text = program::textOf(op);
    text.input = input.name;
    return llvm::createStringError(program::refusedInput(text, result.refused->value,
                                                         input.place.value_or(ir::TensorPlace())));
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
  const Tensor& elements = operands[0].tensor();
  const Tensor& scales = operands[1].tensor();
  const auto type = llvm::cast<ir::ScaledType>(op.getResult().getType()).withShape(elements.shape);
  if (type.getScaleShape() != llvm::ArrayRef(scales.shape))
    return failure(op, "scales of the shape ceil(shape / block) belong to " +
                           mlir::debugString(type) + "; found " + describe(operands[1]));
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
  const std::vector<std::int64_t> shapes[] = {
      x.shape, format::scaleShape(x.shape, x.type.block), {}};
  Results results;
  for (mlir::Value value : op->getResults()) {
    llvm::Expected<ElementType> type =
        elementTypeOf(op, llvm::cast<mlir::ShapedType>(value.getType()).getElementType());
    if (!type)
      return type.takeError();
    Tensor part = Tensor::zeros(*type, shapes[results.size()]);
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

llvm::Expected<Value> evaluateScaledDotGeneral(ir::DotGeneralOp op, const Operands& operands,
                                               Evaluation&) {
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  const DotDimensions dimensions = dotDimensions(op.getDotDimensionNumbers());
  const auto shapeOf = [](const Value& value) {
    return value.isTensor() ? value.tensor().shape : value.scaled().shape;
  };
  const std::vector<std::int64_t> lhs = shapeOf(operands[0]), rhs = shapeOf(operands[1]);
  if (!haveEqualPairs(lhs, rhs, dimensions))
    return failure(op, "pairs axes of different extents; found " + describe(operands[0]) + " and " +
                           describe(operands[1]));
  const std::vector<std::int64_t> shape = dotShape(lhs, rhs, dimensions);
  if (llvm::Error error = checkSize(op, shape))
    return std::move(error);
  const auto plain = [](const Value& value) {
    return value.isTensor() ? value.tensor() : dequantized(value.scaled());
  };
  if (!operands[0].isScaled() || !operands[1].isScaled())
    return Value(dotGeneral(plain(operands[0]), plain(operands[1]), dimensions, *type, kF32));
  const std::vector<float> products =
      scaledDotGeneral(operands[0].scaled(), operands[1].scaled(), dimensions);
  return Value(encodeElements(type->format(), shape, products));
}

llvm::Expected<Value> evaluateOctavoConvert(ir::ConvertOp op, const Operands& operands,
                                            Evaluation&) {
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  if (llvm::Error error = checkRandomBits(op, operands))
    return std::move(error);
  return Value(convertElements(operands[0].tensor(), *type, op.getConversion().getConversion(),
                               randomBits(operands)));
}

llvm::Expected<Results> evaluateFusedDot(ir::FusedDotOp op, const Operands& operands,
                                         Evaluation& evaluation) {
  return evaluation.region(op.getBody(), taken(operands));
}

} // namespace

void registerOctavo(EvaluatorTable& table) {
  table.add<evaluateOctavoConvert>();
  table.add<evaluateDequantize>();
  table.add<evaluateScaledDotGeneral>();
  table.add<evaluateFusedDot>();
  table.add<evaluatePack>();
  table.add<evaluateQuantize>();
  table.add<evaluateUnpack>();
  table.add(ir::YieldOp::getOperationName(), handOn);
}

} // namespace octavo::interpreter
