// Evaluates MLIR's arith on scalars, which are tensors of rank 0 here, and elementwise on tensors.
// Exporters to StableHLO leave such operations in programs. Signless integers are signed unless the
// operation defines otherwise.
#include "octavo/Interpreter/Mlir/MLIRDialects.h"
#include "octavo/Interpreter/StableHLO/Constants.h"
#include "octavo/Interpreter/StableHLO/ElementwiseEvaluator.h"
#include "octavo/Interpreter/Tensor/Arithmetic.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

namespace octavo::interpreter {

namespace {

namespace arith = mlir::arith;

/// Wraps in every width, unlike StableHLO, where the sum of booleans is `or`.
struct WrappingAdd {
  static std::uint64_t integer(IntegerType, std::uint64_t x, std::uint64_t y) { return x + y; }
};

/// The quotient, rounded towards plus infinity if `Up`, else towards minus infinity.
template <bool Up> struct DivideRounded {
  static std::uint64_t integer(IntegerType type, std::uint64_t x, std::uint64_t y) {
    const std::uint64_t quotient = Divide::integer(type, x, y);
    const std::uint64_t remainder = Remainder::integer(type, x, y);
    if (y == 0 || remainder == 0)
      return quotient;
    const bool isBelow = !type.isUnsigned && static_cast<std::int64_t>(x ^ y) < 0;
    return Up ? quotient + (isBelow ? 0 : 1) : quotient - (isBelow ? 1 : 0);
  }
};

/// If one operand is NaN, the result is the other.
template <typename Op> struct OfNumbers {
  static double real(double x, double y) {
    return std::isnan(x) ? y : std::isnan(y) ? x : Op::real(x, y);
  }
};

/// Reinterprets the bits as unsigned integers.
Tensor asUnsigned(Tensor tensor) {
  if (!tensor.type.isBoolean())
    tensor.type = IntegerType{tensor.type.integer().width, true};
  return tensor;
}

template <typename Op>
llvm::Expected<Results> evaluateUnsigned(mlir::Operation* op, const Operands& operands,
                                         Evaluation&) {
  if (llvm::Error error = requireOneShape(op, operands))
    return std::move(error);
  const ElementType type = operands[0].tensor().type;
  Defined<Tensor> result =
      map<Op>(asUnsigned(operands[0].takeTensor()), asUnsigned(operands[1].takeTensor()));
  if (result)
    result->type = type;
  return orFailure(op, std::move(result));
}

llvm::Expected<Value> evaluateArithConstant(arith::ConstantOp op, const Operands&, Evaluation&) {
  auto elements = llvm::dyn_cast<mlir::ElementsAttr>(op.getValue());
  if (!elements) {
    const auto scalar = mlir::RankedTensorType::get({}, op.getType());
    elements = mlir::DenseElementsAttr::get(scalar, mlir::Attribute(op.getValue()));
  }
  llvm::Expected<Tensor> tensor = constantTensor(op, elements);
  if (!tensor)
    return tensor.takeError();
  return Value(std::move(*tensor));
}

/// Converts to the element type of the result, an integer or a float type.
template <typename Op> llvm::Expected<Results> convertTo(mlir::Operation* op, Op convert) {
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  return Results{Value(convert(*type))};
}

/// Conversions of signed integers and of floats. A true i1 is -1; a conversion to i1 keeps the
/// lowest bit.
llvm::Expected<Results> evaluateConversion(mlir::Operation* op, const Operands& operands,
                                           Evaluation&) {
  const Tensor& x = operands[0].tensor();
  return convertTo(op, [&](const ElementType& type) {
    if (x.type.isBoolean() && !type.isBoolean())
      return converted(*map<Negate>(convertElements(x, IntegerType{8, false})), type);
    if (x.type.isInteger() && type.isBoolean()) {
      std::vector<std::uint64_t> bits = decodeIntegers(x);
      return encodeIntegers(type.integer(), x.shape, bits);
    }
    return converted(x, type);
  });
}

llvm::Expected<Results> evaluateUnsignedConversion(mlir::Operation* op, const Operands& operands,
                                                   Evaluation&) {
  return convertTo(op, [&](const ElementType& type) {
    Tensor x = operands[0].takeTensor();
    if (x.type.isInteger())
      x = asUnsigned(std::move(x));
    if (!type.isInteger() || type.isBoolean())
      return converted(std::move(x), type);
    Tensor result = converted(std::move(x), IntegerType{type.integer().width, true});
    result.type = type;
    return result;
  });
}

llvm::Expected<Results> evaluateTruncation(arith::TruncFOp op, const Operands& operands,
                                           Evaluation& evaluation) {
  if (op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
      arith::RoundingMode::to_nearest_even)
    return failure(op, "is evaluated with the rounding to_nearest_even only");
  return evaluateConversion(op, operands, evaluation);
}

llvm::Expected<Results> evaluateBitcast(arith::BitcastOp op, const Operands& operands,
                                        Evaluation&) {
  return convertTo(op, [&](const ElementType& type) {
    return bitcastElements(operands[0].tensor(), type, operands[0].tensor().shape);
  });
}

llvm::Expected<Value> evaluateArithSelect(arith::SelectOp op, const Operands& operands,
                                          Evaluation&) {
  const Tensor& condition = operands[0].tensor();
  if (!operands[1].isTensor() || condition.shape.empty())
    return std::move(operands[condition.code(0) != 0 ? 1 : 2]);
  if (llvm::Error error = requireOneShape(op, operands))
    return std::move(error);
  return Value(select(condition, operands[1].tensor(), operands[2].takeTensor()));
}

/// A tensor of booleans, f(i) for each element.
template <typename F> Value whereHolds(const Tensor& like, F f) {
  Tensor result = Tensor::zeros(kBoolean, like.shape);
  for (std::int64_t i = 0; i < like.size(); ++i)
    result.setCode(i, f(static_cast<std::size_t>(i)));
  return result;
}

bool holds(arith::CmpIPredicate predicate, std::uint64_t x, std::uint64_t y) {
  const auto a = static_cast<std::int64_t>(x), b = static_cast<std::int64_t>(y);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return x == y;
  case arith::CmpIPredicate::ne:
    return x != y;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return x < y;
  case arith::CmpIPredicate::ule:
    return x <= y;
  case arith::CmpIPredicate::ugt:
    return x > y;
  case arith::CmpIPredicate::uge:
    return x >= y;
  }
  return false;
}

/// Sign extension preserves both the signed and the unsigned order.
llvm::Expected<Value> evaluateCompareIntegers(arith::CmpIOp op, const Operands& operands,
                                              Evaluation&) {
  if (llvm::Error error = requireOneShape(op, operands))
    return std::move(error);
  const auto extended = [](const Tensor& tensor) {
    std::vector<std::uint64_t> values = decodeIntegers(tensor);
    if (tensor.type.isBoolean())
      for (std::uint64_t& value : values)
        value = -value;
    return values;
  };
  const std::vector<std::uint64_t> x = extended(operands[0].tensor());
  const std::vector<std::uint64_t> y = extended(operands[1].tensor());
  return whereHolds(operands[0].tensor(),
                    [&](std::size_t i) { return holds(op.getPredicate(), x[i], y[i]); });
}

bool holds(arith::CmpFPredicate predicate, double x, double y) {
  using Predicate = arith::CmpFPredicate;
  const bool isUnordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case Predicate::AlwaysFalse:
    return false;
  case Predicate::AlwaysTrue:
    return true;
  case Predicate::ORD:
    return !isUnordered;
  case Predicate::UNO:
    return isUnordered;
  case Predicate::OEQ:
    return x == y;
  case Predicate::UEQ:
    return isUnordered || x == y;
  case Predicate::ONE:
    return !isUnordered && x != y;
  case Predicate::UNE:
    return isUnordered || x != y;
  case Predicate::OGT:
    return x > y;
  case Predicate::UGT:
    return isUnordered || x > y;
  case Predicate::OGE:
    return x >= y;
  case Predicate::UGE:
    return isUnordered || x >= y;
  case Predicate::OLT:
    return x < y;
  case Predicate::ULT:
    return isUnordered || x < y;
  case Predicate::OLE:
    return x <= y;
  case Predicate::ULE:
    return isUnordered || x <= y;
  }
  return false;
}

llvm::Expected<Value> evaluateCompareFloats(arith::CmpFOp op, const Operands& operands,
                                            Evaluation&) {
  if (llvm::Error error = requireOneShape(op, operands))
    return std::move(error);
  const std::vector<double> x = decodeElements(operands[0].tensor());
  const std::vector<double> y = decodeElements(operands[1].tensor());
  return whereHolds(operands[0].tensor(),
                    [&](std::size_t i) { return holds(op.getPredicate(), x[i], y[i]); });
}

} // namespace

void registerArith(EvaluatorTable& table) {
  table.add("arith.addf", evaluateBinary<Add>);
  table.add("arith.addi", evaluateBinary<WrappingAdd>);
  table.add("arith.andi", evaluateBinary<And>);
  table.add("arith.ceildivsi", evaluateBinary<DivideRounded<true>>);
  table.add("arith.ceildivui", evaluateUnsigned<DivideRounded<true>>);
  table.add("arith.divf", evaluateBinary<Divide>);
  table.add("arith.divsi", evaluateBinary<Divide>);
  table.add("arith.divui", evaluateUnsigned<Divide>);
  table.add("arith.extf", evaluateConversion);
  table.add("arith.extsi", evaluateConversion);
  table.add("arith.extui", evaluateUnsignedConversion);
  table.add("arith.floordivsi", evaluateBinary<DivideRounded<false>>);
  table.add("arith.fptosi", evaluateConversion);
  table.add("arith.fptoui", evaluateUnsignedConversion);
  table.add("arith.index_cast", evaluateConversion);
  table.add("arith.index_castui", evaluateUnsignedConversion);
  table.add("arith.maximumf", evaluateBinary<Maximum>);
  table.add("arith.maxnumf", evaluateBinary<OfNumbers<Maximum>>);
  table.add("arith.maxsi", evaluateBinary<Maximum>);
  table.add("arith.maxui", evaluateUnsigned<Maximum>);
  table.add("arith.minimumf", evaluateBinary<Minimum>);
  table.add("arith.minnumf", evaluateBinary<OfNumbers<Minimum>>);
  table.add("arith.minsi", evaluateBinary<Minimum>);
  table.add("arith.minui", evaluateUnsigned<Minimum>);
  table.add("arith.mulf", evaluateBinary<Multiply>);
  table.add("arith.muli", evaluateBinary<Multiply>);
  table.add("arith.negf", evaluateUnary<Negate>);
  table.add("arith.ori", evaluateBinary<Or>);
  table.add("arith.remf", evaluateBinary<Remainder>);
  table.add("arith.remsi", evaluateBinary<Remainder>);
  table.add("arith.remui", evaluateUnsigned<Remainder>);
  table.add("arith.shli", evaluateBinary<ShiftLeft>);
  table.add("arith.shrsi", evaluateBinary<ShiftRightArithmetic>);
  table.add("arith.shrui", evaluateBinary<ShiftRightLogical>);
  table.add("arith.sitofp", evaluateConversion);
  table.add("arith.subf", evaluateBinary<Subtract>);
  table.add("arith.subi", evaluateBinary<Subtract>);
  table.add("arith.trunci", evaluateConversion);
  table.add("arith.uitofp", evaluateUnsignedConversion);
  table.add("arith.xori", evaluateBinary<Xor>);
  table.add<evaluateBitcast>();
  table.add<evaluateCompareFloats>();
  table.add<evaluateCompareIntegers>();
  table.add<evaluateArithConstant>();
  table.add<evaluateArithSelect>();
  table.add<evaluateTruncation>();
}

} // namespace octavo::interpreter
