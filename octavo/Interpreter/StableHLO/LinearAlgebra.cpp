// Evaluates StableHLO's linear algebra family.
#include "octavo/Dialect/StableHLO/LinearAlgebra.h"
#include "octavo/Interpreter/Products/Triangular.h"
#include "octavo/Interpreter/StableHLO/ElementwiseEvaluator.h"

#include "llvm/ADT/ArrayRef.h"

namespace octavo::interpreter {

namespace {

llvm::Error requireNumbers(mlir::Operation* op, const Tensor& tensor) {
  if (!tensor.type.isFloat() && !tensor.type.isComplex())
    return failure(op, Undefined{tensor.type}.message());
  return llvm::Error::success();
}

llvm::Expected<Value> evaluateCholesky(stablehlo::CholeskyOp op, const Operands& operands,
                                       Evaluation&) {
  const Tensor& a = operands[0].tensor();
  if (llvm::Error error = requireNumbers(op, a))
    return std::move(error);
  if (a.shape.back() != a.shape[a.shape.size() - 2])
    return failure(op, "takes square matrices; found " + describe(operands[0]));
  return Value(cholesky(a, op.getLower()));
}

llvm::Expected<Value> evaluateTriangularSolve(stablehlo::TriangularSolveOp op,
                                              const Operands& operands, Evaluation&) {
  const Tensor& a = operands[0].tensor();
  const Tensor& b = operands[1].tensor();
  if (llvm::Error error = requireNumbers(op, a))
    return std::move(error);
  const std::size_t batch = a.shape.size() - 2;
  const std::int64_t n = a.shape.back();
  if (a.shape[batch] != n || b.shape[op.getLeftSide() ? batch : batch + 1] != n ||
      llvm::ArrayRef(a.shape).take_front(batch) != llvm::ArrayRef(b.shape).take_front(batch))
    return failure(op, "takes square matrices and right sides that fit; found " +
                           describe(operands[0]) + " and " + describe(operands[1]));
  const stablehlo::Transpose form = op.getTransposeA();
  return Value(
      triangularSolve(a, b,
                      {.isLeft = op.getLeftSide(),
                       .isLower = op.getLower(),
                       .isUnitDiagonal = op.getUnitDiagonal(),
                       .form = form == stablehlo::Transpose::TRANSPOSE ? MatrixForm::Transposed
                               : form == stablehlo::Transpose::ADJOINT ? MatrixForm::Adjoint
                                                                       : MatrixForm::AsIs}));
}

} // namespace

void registerLinearAlgebra(EvaluatorTable& table) {
  table.addByNumbers<evaluateCholesky>();
  table.addByNumbers<evaluateTriangularSolve>();
}

} // namespace octavo::interpreter
