// Questions about a tensor's type that the passes on scaled tensors ask.
#pragma once

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Constraints.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <functional>
#include <numeric>

namespace octavo::transforms {

/// The type of a tensor with static shape; else null.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : mlir::RankedTensorType();
}

/// The extents of a tensor for which typeOf is not null.
inline llvm::ArrayRef<std::int64_t> shapeOf(mlir::Value value) { return typeOf(value).getShape(); }

/// The type of a tensor whose extents are static or open (`?`). Null if it has bounded extents, or
/// is not a ranked tensor.
inline mlir::RankedTensorType openTypeOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && (type.hasStaticShape() || !type.getEncoding()) ? type : mlir::RankedTensorType();
}

/// The extents of a tensor for which openTypeOf is not null.
inline llvm::ArrayRef<std::int64_t> openShapeOf(mlir::Value value) {
  return openTypeOf(value).getShape();
}

/// The number of elements; kDynamic if an extent is.
inline std::int64_t elementCount(llvm::ArrayRef<std::int64_t> shape) {
  if (mlir::ShapedType::isDynamicShape(shape))
    return mlir::ShapedType::kDynamic;
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Element i of the result is shape[order[i]].
inline llvm::SmallVector<std::int64_t> permuted(llvm::ArrayRef<std::int64_t> shape,
                                                llvm::ArrayRef<std::int64_t> order) {
  llvm::SmallVector<std::int64_t> result;
  for (const std::int64_t axis : order)
    result.push_back(shape[static_cast<std::size_t>(axis)]);
  return result;
}

/// The element format of a value's type; null if it has none.
inline const format::ElementFormat* elementFormatOf(mlir::Value value) {
  return elementFormat(mlir::getElementTypeOrSelf(value.getType()));
}

/// Whether `element` is a float type of at least 16 bits.
inline bool isWideFloat(mlir::Type element) {
  return llvm::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() >= 16;
}

/// Whether a tensor holds codes of a narrow format with a zero, that is elements and not E8M0
/// scales.
inline bool isCodes(mlir::Value value) {
  const format::ElementFormat* format = elementFormatOf(value);
  return format != nullptr && format->isNarrow() && format->hasZero();
}

/// Whether a conversion decodes codes or only rounds: to a wide float, from codes or a wide float.
inline bool convertsToWideFloat(stablehlo::ConvertOp convert) {
  return isWideFloat(mlir::getElementTypeOrSelf(convert.getType())) &&
         (isCodes(convert.getOperand()) ||
          isWideFloat(mlir::getElementTypeOrSelf(convert.getOperand().getType())));
}

/// Whether a tensor's element format can hold scales: it has NaN and at most 32 bits.
inline bool canBeScale(mlir::Value value) {
  const format::ElementFormat* format = elementFormatOf(value);
  return format != nullptr && format->hasNan() && format->width() <= 32;
}

/// Whether any value in an operation's regions, or any result, is a tensor of narrow floats.
inline bool hasNarrowFloats(mlir::Operation* within) {
  const auto isNarrow = [](mlir::Type type) {
    const auto* format = elementFormat(mlir::getElementTypeOrSelf(type));
    return format != nullptr && format->isNarrow();
  };
  return within
      ->walk([&](mlir::Operation* op) {
        const bool takesNarrow = llvm::any_of(op->getRegions(), [&](mlir::Region& region) {
          return !region.empty() && llvm::any_of(region.getArgumentTypes(), isNarrow);
        });
        return takesNarrow || llvm::any_of(op->getResultTypes(), isNarrow)
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether each element of the result is computed from the operands' elements at the same index.
inline bool isComputedPerElement(mlir::Operation* op) {
  return op->hasTrait<stablehlo::Elementwise>() ||
         (llvm::isa<stablehlo::BitcastConvertOp>(op) && openTypeOf(op->getOperand(0)) &&
          openTypeOf(op->getResult(0)) &&
          openShapeOf(op->getOperand(0)) == openShapeOf(op->getResult(0)));
}

} // namespace octavo::transforms
