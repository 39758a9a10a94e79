// Lowers Cholesky factorizations, triangular solves and Fourier transforms.
#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Plan/FunctionLowering.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Program/Steps/Fourier.h"
#include "octavo/Program/Steps/LinearAlgebra.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::compiler {

/// nullopt: the elements are neither f32 nor f64, real or complex.
static std::optional<program::Numbers> numbersOf(mlir::Value value) {
  mlir::Type part = elementOf(value);
  auto complex = mlir::dyn_cast<mlir::ComplexType>(part);
  if (complex)
    part = complex.getElementType();
  if (!part.isF32() && !part.isF64())
    return std::nullopt;
  return program::Numbers{.isComplex = static_cast<bool>(complex), .isF64 = part.isF64()};
}

/// The number of matrices: the product of all extents but the last `last` ones.
static program::BatchExtent countOf(llvm::ArrayRef<std::int64_t> shape, std::size_t last) {
  program::BatchExtent count{1};
  for (const std::int64_t extent : shape.drop_back(last))
    count.fixed *= extent;
  return count;
}

void FunctionLowering::widen(mlir::Block& block) {
  for (mlir::Operation& op : llvm::make_early_inc_range(block)) {
    if (!llvm::isa<stablehlo::CholeskyOp, stablehlo::TriangularSolveOp>(op))
      continue;
    mlir::Value result = op.getResult(0);
    const mlir::Type narrow = result.getType();
    const mlir::Type element = elementOf(result);
    if (!isCompiled(element) || numbersOf(result))
      continue;
    mlir::OpBuilder builder(&op);
    const auto of = [&](mlir::Value value) {
      return mlir::RankedTensorType::get(shapeOf(value), builder.getF64Type());
    };
    for (mlir::OpOperand& operand : op.getOpOperands())
      operand.set(
          stablehlo::ConvertOp::create(builder, op.getLoc(), of(operand.get()), operand.get()));
    op.getResult(0).setType(of(result));
    builder.setInsertionPointAfter(&op);
    auto rounded = stablehlo::ConvertOp::create(builder, op.getLoc(), narrow, result);
    result.replaceAllUsesExcept(rounded.getResult(), rounded);
  }
}

llvm::Error FunctionLowering::cholesky(stablehlo::CholeskyOp op, Sequence& sequence) {
  const std::optional<program::Numbers> numbers = numbersOf(op.getA());
  if (!numbers)
    return interpret(op, sequence, whyNoCode(op));
  llvm::Expected<std::vector<Slot>> slots = usedSlots({op.getA(), op.getResult()});
  if (!slots)
    return slots.takeError();
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getA());
  add(sequence,
      std::make_unique<program::CholeskyStep>(text(op), *numbers, op.getLower(), countOf(shape, 2),
                                              shape.back(), slots->front(), slots->back()));
  return llvm::Error::success();
}

llvm::Error FunctionLowering::triangularSolve(stablehlo::TriangularSolveOp op, Sequence& sequence) {
  const std::optional<program::Numbers> numbers = numbersOf(op.getA());
  if (!numbers)
    return interpret(op, sequence, whyNoCode(op));
  llvm::Expected<std::vector<Slot>> slots = usedSlots({op.getA(), op.getB(), op.getResult()});
  if (!slots)
    return slots.takeError();
  const stablehlo::Transpose form = op.getTransposeA();
  const program::TriangularSolveStep::System system{
      .isLeft = op.getLeftSide(),
      .isLower = op.getLower(),
      .isUnitDiagonal = op.getUnitDiagonal(),
      .isTransposed =
          form == stablehlo::Transpose::TRANSPOSE || form == stablehlo::Transpose::ADJOINT,
      .isConjugate = form == stablehlo::Transpose::ADJOINT};
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(op.getB());
  const std::int64_t n = shapeOf(op.getA()).back();
  const std::int64_t others = system.isLeft ? shape.back() : shape[shape.size() - 2];
  add(sequence, std::make_unique<program::TriangularSolveStep>(
                    text(op), *numbers, system, countOf(shape, 2), n, others, (*slots)[0],
                    (*slots)[1], (*slots)[2]));
  return llvm::Error::success();
}

llvm::Error FunctionLowering::fft(stablehlo::FftOp op, Sequence& sequence) {
  using Kind = program::FourierStep::Kind;
  const auto kind = [&] {
    switch (op.getFftType()) {
    case stablehlo::FftType::FFT:
      return Kind::Forward;
    case stablehlo::FftType::IFFT:
      return Kind::Inverse;
    case stablehlo::FftType::RFFT:
      return Kind::RealForward;
    case stablehlo::FftType::IRFFT:
      return Kind::RealInverse;
    }
    llvm_unreachable("a transform that is none");
  }();
  const std::optional<program::Numbers> numbers = numbersOf(op.getOperand());
  if (!numbers)
    return interpret(op, sequence, whyNoCode(op));
  llvm::Expected<std::vector<Slot>> slots = usedSlots({op.getOperand(), op.getResult()});
  if (!slots)
    return slots.takeError();
  const std::vector<std::int64_t> lengths = op.getFftLength().vec();
  const program::BatchExtent count = countOf(shapeOf(op.getOperand()), lengths.size());
  Slot wide;
  if (lengths.size() > 1) {
    wide = Slot{static_cast<int>(program.slots.size())};
    program.slots.push_back(
        {.bytes = count.fixed * static_cast<std::int64_t>(
                                    program::FourierStep::wideBytes(kind, numbers->isF64, lengths)),
         .first = position,
         .last = position});
  }
  add(sequence,
      std::make_unique<program::FourierStep>(text(op), kind, numbers->isF64, count, lengths,
                                             slots->front(), wide, slots->back()));
  return llvm::Error::success();
}

} // namespace octavo::compiler
