// Evaluates StableHLO's complex family: parts of complex numbers, and Fourier transforms.
#include "octavo/Dialect/StableHLO/Complex.h"
#include "octavo/Interpreter/StableHLO/ElementwiseEvaluator.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Fft.h"

namespace octavo::interpreter {

namespace {

/// Calls `f` with a value of the part's type, f32 or f64.
template <typename F> auto withPart(const ElementFormat& part, F f) {
  return part == kF64.format() ? f(double{}) : f(float{});
}

llvm::Expected<Value> evaluateComplex(stablehlo::ComplexOp op, const Operands& operands,
                                      Evaluation&) {
  if (llvm::Error error = requireOneShape(op, operands))
    return std::move(error);
  return Value(complexOfParts(operands[0].tensor(), operands[1].tensor()));
}

/// Part 0 (real) or 1 (imaginary) of each number. The imaginary part of a real number is +0.
template <int Which>
llvm::Expected<Results> evaluatePart(mlir::Operation*, const Operands& operands, Evaluation&) {
  const Tensor& x = operands[0].tensor();
  if (x.type.isFloat())
    return Results{Which == 0 ? std::move(operands[0])
                              : Value(convertElements(Tensor::zeros(kF32, x.shape), x.type))};
  const ElementFormat& part = x.type.part();
  Tensor result = Tensor::zeros(part, x.shape);
  withPart(part, [&]<typename Part>(Part) {
    const auto source = x.as<Part>();
    const auto target = result.as<Part>();
    for (std::size_t i = 0; i < target.size(); ++i)
      target[i] = source[2 * i + Which];
  });
  return Results{Value(std::move(result))};
}

llvm::Expected<Value> evaluateFft(stablehlo::FftOp op, const Operands& operands, Evaluation&) {
  const Tensor& x = operands[0].tensor();
  const llvm::ArrayRef<std::int64_t> lengths = op.getFftLength();
  const auto axes = static_cast<std::int64_t>(lengths.size());
  const stablehlo::FftType kind = op.getFftType();
  // Extents that the type left unknown are known now.
  for (std::int64_t i = 0; i < axes; ++i) {
    const bool isHalf = kind == stablehlo::FftType::IRFFT && i == axes - 1;
    const std::int64_t expected = isHalf ? (lengths[i] == 0 ? 0 : lengths[i] / 2 + 1) : lengths[i];
    if (x.shape[x.shape.size() - lengths.size() + static_cast<std::size_t>(i)] != expected)
      return failure(op, describe(operands[0]) + " does not have the extents of fft_length");
  }
  switch (kind) {
  case stablehlo::FftType::FFT:
    return Value(fft(x, axes, FftDirection::Forward));
  case stablehlo::FftType::IFFT:
    return Value(fft(x, axes, FftDirection::Inverse));
  case stablehlo::FftType::RFFT:
    return Value(realFft(x, axes));
  case stablehlo::FftType::IRFFT:
    return Value(inverseRealFft(x, axes, lengths.back()));
  }
  llvm_unreachable("every transform is computed above");
}

} // namespace

void registerComplex(EvaluatorTable& table) {
  table.add<evaluateComplex>();
  table.add<evaluateFft>();
  table.add("stablehlo.imag", evaluatePart<1>);
  table.add("stablehlo.real", evaluatePart<0>);
}

} // namespace octavo::interpreter
