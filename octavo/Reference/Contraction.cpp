// StableHLO, contraction family.
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Reference/Conversions.h"
#include "octavo/Reference/DimensionNumbers.h"
#include "octavo/Reference/DotGeneral.h"
#include "octavo/Reference/Evaluator.h"

#include "llvm/ADT/STLExtras.h"

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
  llvm::Expected<ElementType> type = resultElementType(op);
  if (!type)
    return type.takeError();
  Tensor lhs = operands[0].takeTensor();
  Tensor rhs = operands[1].takeTensor();
  const bool areFloats = lhs.type.isFloat() && rhs.type.isFloat() && type->isFloat();
  const bool areIntegers = lhs.type.isInteger() && rhs.type.isInteger() && type->isInteger();
  if (!areFloats && !areIntegers)
    return failure(op, "operands of " + lhs.type.name() + " and " + rhs.type.name() +
                           " have no product in " + type->name());
  const DotDimensions dimensions = dotDimensions(op.getDotDimensionNumbers());
  const auto agree = [&](const std::vector<std::int64_t>& ours,
                         const std::vector<std::int64_t>& theirs) {
    return llvm::all_of_zip(
        ours, theirs, [&](std::int64_t l, std::int64_t r) { return lhs.shape[l] == rhs.shape[r]; });
  };
  if (!agree(dimensions.lhsBatch, dimensions.rhsBatch) ||
      !agree(dimensions.lhsContracting, dimensions.rhsContracting))
    return failure(op, "pairs axes of different extents; found " + describe(Value(std::move(lhs))) +
                           " and " + describe(Value(std::move(rhs))));
  if (llvm::Error error = checkSize(op, dotShape(lhs.shape, rhs.shape, dimensions)))
    return std::move(error);
  ElementType accumulation = defaultAccumulation(lhs.type, rhs.type, *type);
  if (areFloats)
    if (llvm::Error error = applyAlgorithm(op, lhs, rhs, accumulation))
      return std::move(error);
  return Value(dotGeneral(lhs, rhs, dimensions, *type, accumulation));
}

} // namespace

void registerContraction(EvaluatorTable& table) { table.add<evaluateDotGeneral>(); }

} // namespace octavo::reference
