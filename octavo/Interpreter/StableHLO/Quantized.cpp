// Evaluates StableHLO's quantized family: conversions between numbers and quantized integers.
#include "octavo/Dialect/StableHLO/Quantized.h"
#include "octavo/Interpreter/Evaluator.h"
#include "octavo/Interpreter/StableHLO/QuantizedEvaluator.h"
#include "octavo/Interpreter/Tensor/UniformQuantization.h"

namespace octavo::interpreter {

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
  llvm::Expected<Tensor> result =
      quantized(op, x.type.isQuantized() ? dequantizeUniform(x) : x, *type);
  if (!result)
    return result.takeError();
  return Value(std::move(*result));
}

} // namespace

void registerQuantized(EvaluatorTable& table) {
  table.add<evaluateUniformDequantize>();
  table.add<evaluateUniformQuantize>();
}

} // namespace octavo::interpreter
