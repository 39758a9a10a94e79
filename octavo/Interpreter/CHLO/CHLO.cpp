// Evaluates CHLO: higher-level operations that JAX emits beside StableHLO.
#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Interpreter/CHLO/CHLO.h"
#include "octavo/Interpreter/Calls/TopK.h"
#include "octavo/Interpreter/StableHLO/Constants.h"
#include "octavo/Interpreter/StableHLO/ElementwiseEvaluator.h"
#include "octavo/Interpreter/Tensor/Arithmetic.h"
#include "octavo/Interpreter/Tensor/Comparison.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Movement.h"
#include "octavo/Interpreter/Tensor/SpecialFunctions.h"

#include <cmath>

namespace octavo::interpreter {

namespace {

struct Conjugate {
  static double real(double x) { return x; }
  static Complex complex(Complex x) { return std::conj(x); }
};
struct BesselI1e {
  static double real(double x) { return besselI1e(x); }
};
struct Zeta {
  static double real(double x, double q) { return zeta(x, q); }
};
struct Polygamma {
  static double real(double n, double x) { return polygamma(n, x); }
};
struct Digamma {
  template <std::floating_point T> static T real(T x) { return static_cast<T>(digamma(x)); }
};
struct InverseErf {
  template <std::floating_point T> static T real(T x) { return static_cast<T>(inverseErf(x)); }
};
struct LogGamma {
  template <std::floating_point T> static T real(T x) { return static_cast<T>(logGamma(x)); }
};
struct HighProduct {
  static std::uint64_t integer(IntegerType type, std::uint64_t x, std::uint64_t y) {
    if (type.isUnsigned)
      return static_cast<std::uint64_t>(static_cast<unsigned __int128>(x) * y >> type.width);
    return static_cast<std::uint64_t>(static_cast<__int128>(static_cast<std::int64_t>(x)) *
                                          static_cast<std::int64_t>(y) >>
                                      type.width);
  }
};

/// Whether each element is infinite, with the sign `Sign`, or with either sign if that is 0.
template <int Sign>
llvm::Expected<Results> evaluateIsInfinite(mlir::Operation*, const Operands& operands,
                                           Evaluation&) {
  const Tensor& x = operands[0].tensor();
  Tensor result = Tensor::zeros(kBoolean, x.shape);
  const std::vector<double> values = decodeElements(x);
  for (std::size_t i = 0; i < values.size(); ++i)
    result.setCode(static_cast<std::int64_t>(i),
                   std::isinf(values[i]) && (Sign == 0 || (values[i] > 0.0) == (Sign > 0)));
  return Results{Value(std::move(result))};
}

llvm::Expected<Value> evaluateChloConstant(chlo::ConstantOp op, const Operands&, Evaluation&) {
  llvm::Expected<Tensor> tensor = constantTensor(op, op.getValue());
  if (!tensor)
    return tensor.takeError();
  return Value(std::move(*tensor));
}

llvm::Expected<Value> evaluateConstantLike(chlo::ConstantLikeOp op, const Operands& operands,
                                           Evaluation&) {
  const auto scalar = mlir::RankedTensorType::get({}, op.getType().getElementType());
  const auto complex = llvm::dyn_cast<mlir::complex::NumberAttr>(op.getValue());
  llvm::Expected<Tensor> number = constantTensor(
      op, complex ? mlir::DenseElementsAttr::get(
                        scalar, std::complex<llvm::APFloat>(complex.getReal(), complex.getImag()))
                  : mlir::DenseElementsAttr::get(scalar,
                                                 llvm::ArrayRef<mlir::Attribute>(op.getValue())));
  if (!number)
    return number.takeError();
  return Value(broadcastScalar(*number, operands[0].tensor().shape));
}

/// Increments or decrements the code, because codes are ordered like magnitudes.
llvm::Expected<Results> evaluateNextAfter(mlir::Operation* op, const Operands& operands,
                                          Evaluation&) {
  if (llvm::Error error = requireOneShape(op, operands))
    return std::move(error);
  const Tensor& from = operands[0].tensor();
  const Tensor& to = operands[1].tensor();
  const ElementFormat& format = from.type.format();
  const std::vector<double> x = decodeElements(from), y = decodeElements(to);
  std::vector<double> nan{std::numeric_limits<double>::quiet_NaN()};
  const std::uint64_t nanCode = encodeElements(format, {}, std::span<const double>(nan)).code(0);
  Tensor result = Tensor::zeros(from.type, from.shape);
  for (std::size_t n = 0; n < x.size(); ++n) {
    const auto i = static_cast<std::int64_t>(n);
    const std::uint64_t code = from.code(i);
    if (x[n] != x[n] || y[n] != y[n])
      result.setCode(i, nanCode);
    else if (x[n] == y[n])
      result.setCode(i, to.code(i));
    else if (x[n] == 0.0)
      result.setCode(i, y[n] < 0.0 ? format.signMask() | 1 : 1);
    else if (const std::uint64_t next = (x[n] < y[n]) == (x[n] > 0.0) ? code + 1 : code - 1;
             format.hasZero() && !format.hasNegativeZero() && next == format.signMask())
      result.setCode(i, 0); // above the largest negative number is the format's only zero
    else
      result.setCode(i, next);
  }
  return Results{Value(std::move(result))};
}

/// Broadcasts the operands to one shape, then calls `Evaluate`.
template <Evaluator Evaluate>
llvm::Expected<Results> evaluateWithBroadcast(mlir::Operation* op, const Operands& operands,
                                              Evaluation& evaluation) {
  const Tensor& lhs = operands[0].tensor();
  const Tensor& rhs = operands[1].tensor();
  llvm::Expected<chlo::Broadcast> broadcast =
      chlo::broadcastOf(lhs.shape, rhs.shape, chlo::broadcastDimensions(op));
  if (!broadcast)
    return failure(op, llvm::toString(broadcast.takeError()));
  if (llvm::Error error = checkResultShape(op, broadcast->shape))
    return std::move(error);
  Value wide[] = {Value(broadcastInDim(lhs, broadcast->shape, broadcast->lhsAxes)),
                  Value(broadcastInDim(rhs, broadcast->shape, broadcast->rhsAxes))};
  return Evaluate(op, wide, evaluation);
}

llvm::Expected<Results> compareNumbers(mlir::Operation* op, const Operands& operands, Evaluation&) {
  auto comparison = llvm::cast<chlo::BroadcastCompareOp>(op);
  return Results{Value(compare(static_cast<Relation>(comparison.getComparisonDirection()),
                               comparison.getCompareType() == chlo::ComparisonType::TOTALORDER,
                               operands[0].tensor(), operands[1].tensor()))};
}

llvm::Expected<Results> evaluateComparison(mlir::Operation* op, const Operands& operands,
                                           Evaluation& evaluation) {
  return evaluateByNumbers(op, operands, evaluation, compareNumbers);
}

llvm::Expected<Results> evaluateParts(mlir::Operation*, const Operands& operands, Evaluation&) {
  return Results{Value(complexOfParts(operands[0].tensor(), operands[1].tensor()))};
}

llvm::Expected<Value> evaluateBroadcastSelect(chlo::BroadcastSelectOp op, const Operands& operands,
                                              Evaluation&) {
  llvm::Expected<chlo::Shape> shape = chlo::broadcastShape(
      {operands[0].tensor().shape, operands[1].tensor().shape, operands[2].tensor().shape});
  if (!shape)
    return failure(op, llvm::toString(shape.takeError()));
  if (llvm::Error error = checkResultShape(op, *shape))
    return std::move(error);
  const auto wide = [&](const Tensor& x) {
    return broadcastInDim(x, *shape, chlo::alignedAxes(x.shape.size(), shape->size()));
  };
  return Value(
      select(wide(operands[0].tensor()), wide(operands[1].tensor()), wide(operands[2].tensor())));
}

llvm::Expected<Results> evaluateTopK(chlo::TopKOp op, const Operands& operands, Evaluation&) {
  return topK(op, operands[0].tensor(), static_cast<std::int64_t>(op.getK()), Extreme::Largest);
}

} // namespace

void registerCHLO(EvaluatorTable& table) {
  table.add("chlo.acos", evaluateUnary<Acos>);
  table.add("chlo.acosh", evaluateUnary<Acosh>);
  table.add("chlo.asin", evaluateUnary<Asin>);
  table.add("chlo.asinh", evaluateUnary<Asinh>);
  table.add("chlo.atan", evaluateUnary<Atan>);
  table.add("chlo.atanh", evaluateUnary<Atanh>);
  table.add("chlo.bessel_i1e", evaluateUnary<BesselI1e>);
  table.add("chlo.broadcast_add", evaluateWithBroadcast<evaluateBinary<Add>>);
  table.add("chlo.broadcast_and", evaluateWithBroadcast<evaluateBinary<And>>);
  table.add("chlo.broadcast_atan2", evaluateWithBroadcast<evaluateBinary<Atan2>>);
  table.add("chlo.broadcast_compare", evaluateWithBroadcast<evaluateComparison>);
  table.add("chlo.broadcast_complex", evaluateWithBroadcast<evaluateParts>);
  table.add("chlo.broadcast_divide", evaluateWithBroadcast<evaluateBinary<Divide>>);
  table.add("chlo.broadcast_maximum", evaluateWithBroadcast<evaluateBinary<Maximum>>);
  table.add("chlo.broadcast_minimum", evaluateWithBroadcast<evaluateBinary<Minimum>>);
  table.add("chlo.broadcast_multiply", evaluateWithBroadcast<evaluateBinary<Multiply>>);
  table.add("chlo.broadcast_next_after", evaluateWithBroadcast<evaluateNextAfter>);
  table.add("chlo.broadcast_or", evaluateWithBroadcast<evaluateBinary<Or>>);
  table.add("chlo.broadcast_polygamma", evaluateWithBroadcast<evaluateBinary<Polygamma>>);
  table.add("chlo.broadcast_power", evaluateWithBroadcast<evaluateBinary<Power>>);
  table.add("chlo.broadcast_remainder", evaluateWithBroadcast<evaluateBinary<Remainder>>);
  table.add("chlo.broadcast_shift_left", evaluateWithBroadcast<evaluateBinary<ShiftLeft>>);
  table.add("chlo.broadcast_shift_right_arithmetic",
            evaluateWithBroadcast<evaluateBinary<ShiftRightArithmetic>>);
  table.add("chlo.broadcast_shift_right_logical",
            evaluateWithBroadcast<evaluateBinary<ShiftRightLogical>>);
  table.add("chlo.broadcast_subtract", evaluateWithBroadcast<evaluateBinary<Subtract>>);
  table.add("chlo.broadcast_xor", evaluateWithBroadcast<evaluateBinary<Xor>>);
  table.add("chlo.broadcast_zeta", evaluateWithBroadcast<evaluateBinary<Zeta>>);
  table.add("chlo.conj", evaluateUnary<Conjugate>);
  table.add("chlo.cosh", evaluateUnary<Cosh>);
  table.add("chlo.digamma", evaluateUnary<Digamma>);
  table.add("chlo.erf", evaluateUnary<Erf>);
  table.add("chlo.erf_inv", evaluateUnary<InverseErf>);
  table.add("chlo.erfc", evaluateUnary<Erfc>);
  table.add("chlo.is_inf", evaluateIsInfinite<0>);
  table.add("chlo.is_neg_inf", evaluateIsInfinite<-1>);
  table.add("chlo.is_pos_inf", evaluateIsInfinite<1>);
  table.add("chlo.lgamma", evaluateUnary<LogGamma>);
  table.add("chlo.mulhi", evaluateBinary<HighProduct>);
  table.add("chlo.next_after", evaluateNextAfter);
  table.add("chlo.polygamma", evaluateBinary<Polygamma>);
  table.add("chlo.sinh", evaluateUnary<Sinh>);
  table.add("chlo.square", evaluateUnary<Square>);
  table.add("chlo.tan", evaluateUnary<Tan>);
  table.add("chlo.zeta", evaluateBinary<Zeta>);
  table.add<evaluateBroadcastSelect>();
  table.add<evaluateChloConstant>();
  table.add<evaluateConstantLike>();
  table.add<evaluateTopK>();
  registerRaggedDot(table);
  registerScan(table);
}

} // namespace octavo::interpreter
