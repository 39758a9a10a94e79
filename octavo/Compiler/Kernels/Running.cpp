#include "octavo/Compiler/Kernels/Running.h"

#include "octavo/Compiler/Kernels/Kernel.h"
#include "octavo/Compiler/Kernels/Members.h"
#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Kernels/Sums.h"
#include "octavo/Compiler/Kernels/Windows.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"

namespace octavo::compiler {

/// Whether program::RunningStep computes with such elements.
static bool isCombined(mlir::Type element) {
  const auto integer = llvm::dyn_cast<mlir::IntegerType>(element);
  return element.isF32() || element.isF64() || element.isBF16() ||
         (integer && integer.getWidth() >= 8 && integer.getWidth() <= 64);
}

/// The identity element of the operation; nullopt for operations without one.
static std::optional<llvm::APInt> beginningOf(mlir::Operation* combined, mlir::Type element) {
  const auto floats = llvm::dyn_cast<mlir::FloatType>(element);
  const unsigned width = element.getIntOrFloatBitWidth();
  const bool isUnsigned = element.isUnsignedInteger();
  const auto infinity = [&](bool isNegative) {
    return llvm::APFloat::getInf(floats.getFloatSemantics(), isNegative).bitcastToAPInt();
  };
  return llvm::TypeSwitch<mlir::Operation*, std::optional<llvm::APInt>>(combined)
      .Case([&](stablehlo::AddOp) { return llvm::APInt::getZero(width); })
      .Case([&](stablehlo::MulOp) {
        return floats ? llvm::APFloat(floats.getFloatSemantics(), 1).bitcastToAPInt()
                      : llvm::APInt(width, 1);
      })
      .Case([&](stablehlo::MaxOp) {
        return floats       ? infinity(true)
               : isUnsigned ? llvm::APInt::getMinValue(width)
                            : llvm::APInt::getSignedMinValue(width);
      })
      .Case([&](stablehlo::MinOp) {
        return floats       ? infinity(false)
               : isUnsigned ? llvm::APInt::getMaxValue(width)
                            : llvm::APInt::getSignedMaxValue(width);
      })
      .Default([](mlir::Operation*) { return std::nullopt; });
}

std::optional<Running> runningOf(stablehlo::ReduceWindowOp op) {
  // For shorter axes a kernel computes each place by itself, fused with other operations.
  constexpr std::int64_t kLeast = 16;
  if (op.getInputs().size() != 1)
    return std::nullopt;
  mlir::Operation* const combined = singleOperation(op.getBody());
  const mlir::Value input = op.getInputs().front();
  const auto bits = splatBits(op.getInitValues().front());
  if (combined == nullptr || !bits || !isCombined(elementOf(input)) || !whyNoSum(op).empty() ||
      *bits != beginningOf(combined, elementOf(input)))
    return std::nullopt;
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(input);
  const stablehlo::Window window = windowOf(op);
  std::optional<Running> found;
  for (const auto& [axis, each] : llvm::enumerate(window)) {
    const std::int64_t n = shape[axis];
    if (each.stride != 1 || each.baseDilation != 1 || each.windowDilation != 1)
      return std::nullopt;
    if (each.size == 1 && each.low == 0 && each.high == 0)
      continue;
    const bool isUpTo = each.low == n - 1 && each.high == 0;
    const bool isFrom = each.low == 0 && each.high == n - 1;
    if (found || n < kLeast || each.size != n || !(isUpTo || isFrom))
      return std::nullopt;
    found = Running{static_cast<std::int64_t>(axis), isFrom, combined};
  }
  return found;
}

} // namespace octavo::compiler
