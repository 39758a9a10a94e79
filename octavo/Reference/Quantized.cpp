// StableHLO, quantized family: to integers that stand for numbers, and back.
#include "octavo/Dialect/StableHLO/Quantized.h"
#include "octavo/Reference/Evaluator.h"
#include "octavo/Reference/UniformQuantization.h"

namespace octavo::reference {

namespace {

llvm::Expected<Value> evaluateUniformDequantize(stablehlo::UniformDequantizeOp,
                                                const Operands& operands, Evaluation&) {
  return Value(dequantizeUniform(operands[0].tensor()));
}

llvm::Expected<Value> evaluateUniformQuantize(stablehlo::UniformQuantizeOp op,
                                              const Operands& operands, Evaluation&) {
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  const Tensor& x = operands[0].tensor();
  const std::optional<std::int64_t> axis = type->quantized().axis;
  if (axis && x.shape[static_cast<std::size_t>(*axis)] !=
                  static_cast<std::int64_t>(type->quantized().scales.size()))
    return failure(op, "has one scale for each index of axis " + llvm::Twine(*axis) +
                           ", which do not fit " + describe(operands[0]));
  return Value(quantizeUniform(x.type.isQuantized() ? dequantizeUniform(x) : x, *type));
}

} // namespace

void registerQuantized(EvaluatorTable& table) {
  table.add<evaluateUniformDequantize>();
  table.add<evaluateUniformQuantize>();
}

} // namespace octavo::reference
