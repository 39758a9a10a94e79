#include "octavo/Transforms/Recover/ScaleExponents.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Transforms/Recover/OnAllCodes.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace octavo::transforms {

namespace {

constexpr std::int64_t kCodes = OnAllCodes::kCodes;

using Moves = llvm::SmallVector<mlir::Operation*>;

std::string spelled(double number) {
  if (std::isnan(number))
    return "NaN";
  if (number == std::ldexp(1.0, -127))
    return "2^-127";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

/// The scale of a code: NaN for 255.
double scaleOf(std::int64_t code, bool isReciprocal) {
  if (code + 1 == kCodes)
    return std::nan("");
  return std::ldexp(1.0, static_cast<int>(isReciprocal ? 127 - code : code - 127));
}

bool areEqual(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

} // namespace

std::optional<Exponents> exponentsOf(mlir::Value scales) {
  if (isCodeTensor(scales) || !llvm::isa<mlir::FloatType>(openTypeOf(scales).getElementType()))
    return {};
  OnAllCodes evaluation(scales.getContext());
  const auto values = evaluation.values(scales);
  if (!values || values->size() != kCodes)
    return {};
  for (const bool isReciprocal : {false, true}) {
    const std::int64_t smallest = isReciprocal ? kCodes - 2 : 0;
    const auto isRight = [&](std::int64_t code) {
      return areEqual((*values)[static_cast<std::size_t>(code)], scaleOf(code, isReciprocal));
    };
    if (!llvm::all_of(llvm::seq<std::int64_t>(0, kCodes - 1),
                      [&](std::int64_t code) { return code == smallest || isRight(code); }))
      continue;
    Exponents found{evaluation.codes(), Moves(evaluation.movesOf(scales)), isReciprocal};
    if (!isRight(smallest) || !isRight(kCodes - 1))
      found.difference = "2^-127 and NaN of codes " + std::to_string(smallest) +
                         " and 255, of which the program computes " +
                         spelled((*values)[static_cast<std::size_t>(smallest)]) + " and " +
                         spelled(values->back());
    return found;
  }
  return {};
}

std::optional<Exponents> exponentsOf(mlir::Value scaled, mlir::Value elements,
                                     llvm::ArrayRef<mlir::Value> leaves) {
  const format::ElementFormat& format = *elementFormatOf(elements);
  if (!llvm::isa<mlir::FloatType>(openTypeOf(scaled).getElementType()))
    return {};
  OnAllCodes evaluation(scaled.getContext());
  evaluation.takeElements(format, leaves);
  const auto values = evaluation.values(scaled);
  const std::int64_t elementCodes = std::int64_t{1} << format.width();
  if (!values || values->size() != static_cast<std::size_t>(elementCodes * kCodes))
    return {};
  for (const bool isReciprocal : {false, true}) {
    Exponents found{evaluation.codes(), Moves(evaluation.movesOf(scaled)), isReciprocal};
    std::int64_t others = -1;
    bool isRight = true;
    for (std::int64_t i = 0; isRight && i < elementCodes * kCodes; ++i) {
      const double element = numerics::decode(format, static_cast<std::uint64_t>(i / kCodes)),
                   scale = scaleOf(i % kCodes, isReciprocal),
                   value = (*values)[static_cast<std::size_t>(i)];
      const auto product = static_cast<float>(element * scale);
      if (areEqual(value, product))
        continue;
      // Only values that are not finite or not normal in f32 may differ, and are reported.
      isRight =
          element == 0 ? std::isnan(scale) : !std::isfinite(element) || !std::isnormal(product);
      if (++others == 0)
        found.difference = spelled(product) + " of " + spelled(element) + " by code " +
                           std::to_string(i % kCodes) + ", where the program computes " +
                           spelled(value);
    }
    if (!isRight)
      continue;
    if (others > 0)
      found.difference += ", and " + std::to_string(others) + " products like it";
    return found;
  }
  return {};
}

} // namespace octavo::transforms
