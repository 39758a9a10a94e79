#include "octavo/Transforms/Recover/DecodedCodes.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/Recover/OnAllCodes.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

namespace octavo::transforms {

namespace {

/// The nearest tensors of 8-bit integers that a value is computed from; none depends on another.
/// nullopt if the value depends on anything else, or on too many operations.
std::optional<llvm::SetVector<mlir::Value>> nearestCodes(mlir::Value floats) {
  llvm::SetVector<mlir::Value> above, codes;
  above.insert(floats);
  for (std::size_t i = 0; i < above.size(); ++i) {
    if (i == kMostDecodingOperations)
      return {};
    const mlir::Value value = above[i];
    mlir::Operation* op = value.getDefiningOp();
    if (splatNumber(value))
      continue;
    if (openTypeOf(value) && openTypeOf(value).getElementType().isInteger(8))
      codes.insert(value);
    else if (op != nullptr && isMove(op))
      above.insert(op->getOperand(0));
    else if (op != nullptr && isComputedPerElement(op))
      above.insert(op->operand_begin(), op->operand_end());
    else
      return {};
  }
  return codes;
}

bool isDecoded(const format::ElementFormat& format, llvm::ArrayRef<double> values) {
  if (format.width() != 8 || format.isInteger() || !format.hasZero())
    return false;
  for (const auto [code, value] : llvm::enumerate(values)) {
    const double expected = numerics::decode(format, static_cast<std::uint32_t>(code));
    if (std::isnan(expected) ? !std::isnan(value)
                             : value != expected || std::signbit(value) != std::signbit(expected))
      return false;
  }
  return true;
}

} // namespace

std::optional<DecodedCodes> decodedCodes(mlir::Value floats) {
  auto bitcast = floats.getDefiningOp<stablehlo::BitcastConvertOp>();
  if (!bitcast || !isComputedPerElement(bitcast) ||
      !llvm::isa<mlir::FloatType>(openTypeOf(floats).getElementType()))
    return {};
  const auto nearest = nearestCodes(floats);
  if (!nearest || nearest->empty())
    return {};
  OnAllCodes evaluation(floats.getContext());
  if (nearest->size() == 1) // operations behind the codes, such as roundings, are not followed
    evaluation.takeCodes(nearest->front());
  const auto values = evaluation.values(floats);
  if (!values || values->size() != OnAllCodes::kCodes || !evaluation.codes())
    return {};
  const auto* const format =
      llvm::find_if(format::kElementFormats,
                    [&](const format::ElementFormat& each) { return isDecoded(each, *values); });
  if (format == std::end(format::kElementFormats))
    return {};
  return DecodedCodes{evaluation.codes(),
                      llvm::SmallVector<mlir::Operation*>(evaluation.movesOf(floats)), format};
}

} // namespace octavo::transforms
