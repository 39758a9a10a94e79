// Evaluates StableHLO's elementwise family.
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Interpreter/StableHLO/ElementwiseEvaluator.h"
#include "octavo/Interpreter/StableHLO/MappedRegion.h"
#include "octavo/Interpreter/StableHLO/QuantizedEvaluator.h"
#include "octavo/Interpreter/Tensor/Arithmetic.h"
#include "octavo/Interpreter/Tensor/Comparison.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Map.h"
#include "octavo/Interpreter/Tensor/Movement.h"
#include "octavo/Interpreter/Tensor/TotalOrder.h"

#include <algorithm>
#include <cmath>

namespace octavo::interpreter {

namespace {

llvm::Expected<Value> evaluateCompare(stablehlo::CompareOp op, const Operands& operands,
                                      Evaluation&) {
  if (llvm::Error error = requireOneShape(op, operands))
    return std::move(error);
  return Value(compare(static_cast<Relation>(op.getComparisonDirection()),
                       op.getCompareType() == stablehlo::ComparisonType::TOTALORDER,
                       operands[0].tensor(), operands[1].tensor()));
}

/// Broadcasts the operand to `shape` if it is a scalar.
Tensor spread(const Tensor& tensor, const std::vector<std::int64_t>& shape) {
  return tensor.shape.empty() && !shape.empty() ? broadcastScalar(tensor, shape) : tensor;
}

llvm::Expected<Value> evaluateSelect(stablehlo::SelectOp op, const Operands& operands,
                                     Evaluation&) {
  const Tensor& predicate = operands[0].tensor();
  if (llvm::Error error = requireOneShape(op, operands.drop_front(predicate.shape.empty() ? 1 : 0)))
    return std::move(error);
  if (predicate.shape.empty())
    return std::move(operands[predicate.code(0) != 0 ? 1 : 2]);
  return Value(select(predicate, operands[1].tensor(), operands[2].takeTensor()));
}

llvm::Expected<Results> evaluateClamp(stablehlo::ClampOp op, const Operands& operands,
                                      Evaluation&) {
  const Tensor& x = operands[1].tensor();
  const Tensor low = spread(operands[0].tensor(), x.shape);
  const Tensor high = spread(operands[2].tensor(), x.shape);
  if (low.shape != x.shape || high.shape != x.shape)
    return failure(op, "takes bounds that are scalars or of one shape with the operand; found " +
                           describe(operands[0]) + ", " + describe(operands[1]) + " and " +
                           describe(operands[2]));
  return orFailure(op, map<Maximum>(x, low).and_then(
                           [&](const Tensor& raised) { return map<Minimum>(raised, high); }));
}

llvm::Expected<Value> evaluateConvert(stablehlo::ConvertOp op, const Operands& operands,
                                      Evaluation&) {
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  if (operands[0].tensor().type == *type)
    return std::move(operands[0]);
  return Value(convertElements(operands[0].tensor(), *type));
}

llvm::Expected<Value> evaluateReducePrecision(stablehlo::ReducePrecisionOp op,
                                              const Operands& operands, Evaluation&) {
  if (!operands[0].tensor().type.isFloat())
    return failure(op, Undefined{operands[0].tensor().type}.message());
  return Value(reducePrecision(operands[0].tensor(), static_cast<int>(op.getExponentBits()),
                               static_cast<int>(op.getMantissaBits())));
}

llvm::Expected<Value> evaluateBitcastConvert(stablehlo::BitcastConvertOp op,
                                             const Operands& operands, Evaluation&) {
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  const Tensor& x = operands[0].tensor();
  const int from = x.type.width(), to = type->width();
  std::vector<std::int64_t> shape = x.shape;
  if (to < from)
    shape.push_back(from / to);
  const bool isWhole = std::max(from, to) % std::min(from, to) == 0 &&
                       (to <= from || (!shape.empty() && shape.back() == to / from));
  if (!isWhole)
    return failure(op, "cannot take " + x.type.name() + " apart, or put it together, as " +
                           type->name() + " of these shapes");
  if (to > from)
    shape.pop_back();
  return moved(op, bitcastElements(x, *type, std::move(shape)));
}

llvm::Expected<Value> evaluateIsFinite(stablehlo::IsFiniteOp op, const Operands& operands,
                                       Evaluation&) {
  const Tensor& x = operands[0].tensor();
  if (!x.type.isFloat())
    return failure(op, Undefined{x.type}.message());
  Tensor result = Tensor::zeros(kBoolean, x.shape);
  const std::vector<double> values = decodeElements(x);
  for (std::size_t i = 0; i < values.size(); ++i)
    result.setCode(static_cast<std::int64_t>(i), std::isfinite(values[i]));
  return Value(std::move(result));
}

/// The modulus of complex numbers; for other elements the elementwise Abs.
llvm::Expected<Results> evaluateAbs(mlir::Operation* op, const Operands& operands,
                                    Evaluation& evaluation) {
  const Tensor& x = operands[0].tensor();
  if (!x.type.isComplex())
    return evaluateUnary<Abs>(op, operands, evaluation);
  std::vector<double> moduli;
  for (const Complex& value : decodeComplex(x))
    moduli.push_back(std::hypot(value.real(), value.imag()));
  return Results{Value(encodeElements(x.type.part(), x.shape, std::span<const double>(moduli)))};
}

llvm::Expected<Results> evaluateMapOp(stablehlo::MapOp op, const Operands& operands,
                                      Evaluation& evaluation) {
  if (llvm::Error error = requireOneShape(op, operands))
    return std::move(error);
  llvm::Expected<MappedRegion> computation =
      MappedRegion::prepare(op.getComputation(), operands[0].tensor().shape, evaluation);
  if (!computation)
    return computation.takeError();
  return computation->apply(taken(operands), evaluation);
}

} // namespace

void registerElementwise(EvaluatorTable& table) {
  table.add("stablehlo.abs", evaluateAbs);
  table.add("stablehlo.cbrt", evaluateUnary<Cbrt>);
  table.add("stablehlo.ceil", evaluateUnary<Ceil>);
  table.add("stablehlo.count_leading_zeros", evaluateUnary<CountLeadingZeros>);
  table.add("stablehlo.cosine", evaluateUnary<Cosine>);
  table.add("stablehlo.exponential", evaluateUnary<Exponential>);
  table.add("stablehlo.exponential_minus_one", evaluateUnary<ExponentialMinusOne>);
  table.add("stablehlo.floor", evaluateUnary<Floor>);
  table.add("stablehlo.log", evaluateUnary<Log>);
  table.add("stablehlo.log_plus_one", evaluateUnary<LogPlusOne>);
  table.add("stablehlo.logistic", evaluateUnary<Logistic>);
  table.add("stablehlo.negate", evaluateUnary<Negate>);
  table.add("stablehlo.not", evaluateUnary<Not>);
  table.add("stablehlo.popcnt", evaluateUnary<PopulationCount>);
  table.add("stablehlo.round_nearest_afz", evaluateUnary<RoundAwayFromZero>);
  table.add("stablehlo.round_nearest_even", evaluateUnary<RoundToEven>);
  table.add("stablehlo.rsqrt", evaluateUnary<Rsqrt>);
  table.add("stablehlo.sign", evaluateUnary<Sign>);
  table.add("stablehlo.sine", evaluateUnary<Sine>);
  table.add("stablehlo.sqrt", evaluateUnary<Sqrt>);
  table.add("stablehlo.tan", evaluateUnary<Tan>);
  table.add("stablehlo.tanh", evaluateUnary<Tanh>);

  table.add("stablehlo.add", evaluateBinary<Add>);
  table.add("stablehlo.and", evaluateBinary<And>);
  table.add("stablehlo.atan2", evaluateBinary<Atan2>);
  table.add("stablehlo.divide", evaluateBinary<Divide>);
  table.add("stablehlo.maximum", evaluateBinary<Maximum>);
  table.add("stablehlo.minimum", evaluateBinary<Minimum>);
  table.add("stablehlo.multiply", evaluateBinary<Multiply>);
  table.add("stablehlo.or", evaluateBinary<Or>);
  table.add("stablehlo.power", evaluateBinary<Power>);
  table.add("stablehlo.remainder", evaluateBinary<Remainder>);
  table.add("stablehlo.shift_left", evaluateBinary<ShiftLeft>);
  table.add("stablehlo.shift_right_arithmetic", evaluateBinary<ShiftRightArithmetic>);
  table.add("stablehlo.shift_right_logical", evaluateBinary<ShiftRightLogical>);
  table.add("stablehlo.subtract", evaluateBinary<Subtract>);
  table.add("stablehlo.xor", evaluateBinary<Xor>);

  table.add<evaluateBitcastConvert>();
  table.addByNumbers<evaluateClamp>();
  table.addByNumbers<evaluateCompare>();
  table.add<evaluateConvert>();
  table.addByNumbers<evaluateIsFinite>();
  table.add<evaluateMapOp>();
  table.addByNumbers<evaluateReducePrecision>();
  table.addByNumbers<evaluateSelect>();
}

} // namespace octavo::interpreter
