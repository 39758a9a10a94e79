// Convolutions as products of patches.
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/Windows.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstddef>
#include <cstdint>

namespace octavo::transforms {

/// Where the windows of a convolution lie, one number for each axis of its places. The number of
/// images may be open, here and below.
struct Windows {
  using Axes = llvm::SmallVector<std::int64_t>;

  explicit Windows(stablehlo::ConvolutionOp op);

  std::size_t rank() const { return window.size(); }
  bool isPadded() const {
    const auto isZero = [](std::int64_t each) { return each == 0; };
    return !llvm::all_of(low, isZero) || !llvm::all_of(high, isZero) ||
           !llvm::all_of(interior, isZero);
  }
  /// Whether they lie side by side: what they see is the input, in another order.
  bool areTiles() const;
  /// Whether a slice for each place of the result is less than one for each place of the window.
  bool areFew() const;
  /// Whether they see all places of an input with so many of them, and some several times.
  bool repeat(llvm::ArrayRef<std::int64_t> inputPlaces) const;
  /// Which of an input's `count` places along an axis they see.
  llvm::BitVector seen(std::size_t axis, std::int64_t count) const;
  /// The slices of an input that its patches are made of.
  std::int64_t slices() const;

  Axes window, places, strides, dilation;
  Axes low, high, interior; ///< of padding
  std::int64_t groups;      ///< of features
  std::int64_t batchGroups; ///< of images
};

/// What windows see of an input [batch, places.., features]: [batch, places.., window * features],
/// the window row-major. What is padded is the one number of `padding`.
mlir::Value patchesOf(mlir::OpBuilder& builder, const Windows& windows, mlir::Value input,
                      mlir::DenseElementsAttr padding);

/// Patches with what a group contracts as their last axis: [batch, places.., group,
/// window * features], or [group, batch, places.., window * features]; of one group as they are.
mlir::Value byGroups(mlir::OpBuilder& builder, const Windows& windows, mlir::Value patches);

struct ProductOfPatches {
  /// [batch, places.., window * features] by [window * features, out]; of several groups, these are
  /// a batch axis of both sides, and those of features leave the window an axis of its own if the
  /// number of images is known.
  stablehlo::DotGeneralOp dot;
  mlir::Value input;  ///< that the windows lie on, [batch, places.., features]
  mlir::Value result; ///< the convolution's, of the dot's
};

/// Writes it before a convolution: the input, cut to what its windows see and padded, and what its
/// windows see, in the order in which the convolution sums (rule I21).
ProductOfPatches writePatches(stablehlo::ConvolutionOp op, Windows& windows);

} // namespace octavo::transforms
