// StableHLO, contraction family.
#include "octavo/Dialect/StableHLO/StableHLO.h"
#include "octavo/Reference/Conversions.h"
#include "octavo/Reference/DimensionNumbers.h"
#include "octavo/Reference/DotGeneral.h"
#include "octavo/Reference/Evaluator.h"

namespace octavo::reference {

namespace {

/// The operand in the precision that a dot algorithm gives it (rule I12); its type may change.
llvm::Expected<Tensor> toPrecision(mlir::Operation* op, const Tensor& operand, mlir::Type type) {
  if (llvm::isa<mlir::FloatTF32Type>(type)) {
    const Tensor wide = operand.type == kF64 ? operand : convertElements(operand, kF32);
    return reducePrecision(wide, 8, 10);
  }
  llvm::Expected<TensorShape> precision = tensorShape(op, mlir::RankedTensorType::get({}, type));
  if (!precision)
    return precision.takeError();
  return convertElements(operand, precision->type);
}

/// Operands and accumulation of a dot that names its algorithm; an error where the algorithm is one
/// that is not computed here.
llvm::Error applyAlgorithm(stablehlo::DotGeneralOp op, Tensor& lhs, Tensor& rhs,
                           ElementType& accumulation) {
  std::optional<stablehlo::DotAlgorithmAttr> algorithm = op.getAlgorithm();
  if (!algorithm)
    return llvm::Error::success();
  if (algorithm->getLhsComponentCount() != 1 || algorithm->getRhsComponentCount() != 1 ||
      algorithm->getNumPrimitiveOperations() != 1)
    return failure(op, "the algorithm splits an operand into components, which the interpreter "
                       "does not compute; give it one component and one primitive operation");
  const mlir::Type type = algorithm->getAccumulationType();
  if (!type.isF32() && !type.isF64())
    return failure(op, "the algorithm accumulates in a type that the interpreter does not compute "
                       "sums in; it has f32 and f64");
  accumulation = type.isF64() ? kF64 : kF32;
  llvm::Expected<Tensor> left = toPrecision(op, lhs, algorithm->getLhsPrecisionType());
  if (!left)
    return left.takeError();
  llvm::Expected<Tensor> right = toPrecision(op, rhs, algorithm->getRhsPrecisionType());
  if (!right)
    return right.takeError();
  lhs = std::move(*left);
  rhs = std::move(*right);
  return llvm::Error::success();
}

llvm::Expected<Value> evaluateDotGeneral(stablehlo::DotGeneralOp op, const Operands& operands,
                                         Evaluation&) {
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  Tensor lhs = operands[0].tensor();
  Tensor rhs = operands[1].tensor();
  if (lhs.type.isFloat() != result->type.isFloat() || rhs.type.isFloat() != result->type.isFloat())
    return failure(op, "operands of " + lhs.type.name() + " and " + rhs.type.name() +
                           " have no product in " + result->type.name());
  ElementType accumulation = defaultAccumulation(lhs.type, rhs.type, result->type);
  if (result->type.isFloat())
    if (llvm::Error error = applyAlgorithm(op, lhs, rhs, accumulation))
      return std::move(error);
  return Value(
      dotGeneral(lhs, rhs, dotDimensions(op.getDotDimensionNumbers()), result->type, accumulation));
}

} // namespace

void registerContraction(EvaluatorTable& table) { table.add<evaluateDotGeneral>(); }

} // namespace octavo::reference
