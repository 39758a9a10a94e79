#include "octavo/Interpreter/StableHLO/QuantizedEvaluator.h"

#include "octavo/Dialect/StableHLO/Types.h"
#include "octavo/Interpreter/Tensor/UniformQuantization.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

namespace {

/// An error at `op` if a per-axis quantized tensor does not have one scale for each index: types
/// with unknown extents cannot check that.
llvm::Error checkScales(mlir::Operation* op, const ElementType& type,
                        llvm::ArrayRef<std::int64_t> shape) {
  const std::optional<std::int64_t> axis = type.quantized().axis;
  const auto count = static_cast<std::int64_t>(type.quantized().scales.size());
  if (!axis || shape[static_cast<std::size_t>(*axis)] == count)
    return llvm::Error::success();
  return failure(op, "has a scale for each of " + llvm::Twine(count) + " indices of axis " +
                         llvm::Twine(*axis) + ", whose extent is " +
                         llvm::Twine(shape[static_cast<std::size_t>(*axis)]));
}

bool isQuantized(mlir::Type type) {
  return stablehlo::isQuantized(mlir::getElementTypeOrSelf(type));
}

} // namespace

llvm::Expected<Tensor> quantized(mlir::Operation* op, const Tensor& numbers,
                                 const ElementType& type) {
  if (llvm::Error error = checkScales(op, type, numbers.shape))
    return std::move(error);
  return quantizeUniform(numbers, type);
}

llvm::Expected<Results> evaluateByNumbers(mlir::Operation* op, const Operands& operands,
                                          Evaluation& evaluation, Evaluator onNumbers) {
  const auto isQuantizedValue = [](const Value& value) {
    return value.isTensor() && value.tensor().type.isQuantized();
  };
  if (llvm::none_of(operands, isQuantizedValue) && llvm::none_of(op->getResultTypes(), isQuantized))
    return onNumbers(op, operands, evaluation);
  std::vector<Value> numbers;
  for (const Value& operand : operands)
    numbers.push_back(isQuantizedValue(operand) ? Value(dequantizeUniform(operand.tensor()))
                                                : operand);
  llvm::Expected<Results> results = onNumbers(op, numbers, evaluation);
  if (!results)
    return results.takeError();
  for (auto [value, type] : llvm::zip_equal(*results, op->getResultTypes())) {
    if (!isQuantized(type))
      continue;
    llvm::Expected<ElementType> element = elementTypeOf(op, type);
    if (!element)
      return element.takeError();
    llvm::Expected<Tensor> tensor = quantized(op, value.tensor(), *element);
    if (!tensor)
      return tensor.takeError();
    value = Value(std::move(*tensor));
  }
  return results;
}

llvm::Expected<ElementType> resultNumberType(mlir::Operation* op) {
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  return type->isQuantized() ? ElementType(*type->quantized().expressed) : *type;
}

llvm::Expected<Value> moved(mlir::Operation* op, Tensor tensor) {
  if (!tensor.type.isQuantized())
    return Value(std::move(tensor));
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  if (llvm::Error error = checkScales(op, *type, tensor.shape))
    return std::move(error);
  tensor.type = *type;
  return Value(std::move(tensor));
}

} // namespace octavo::interpreter
