// Writes convolutions as products of patches (im2col).
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

/// The geometry of a convolution's windows, one number for each spatial axis. The number of images
/// may be open, here and below.
struct Windows {
  using Axes = llvm::SmallVector<std::int64_t>;

  explicit Windows(stablehlo::ConvolutionOp op);

  /// Number of spatial axes.
  std::size_t rank() const { return window.size(); }
  /// Whether the input is padded anywhere.
  bool isPadded() const {
    const auto isZero = [](std::int64_t each) { return each == 0; };
    return !llvm::all_of(low, isZero) || !llvm::all_of(high, isZero) ||
           !llvm::all_of(interior, isZero);
  }
  /// Whether the windows tile the input: the patches are a permutation of it.
  bool areTiles() const;
  /// Whether a slice for each place of the result is fewer slices than one for each place of the
  /// window.
  bool areFew() const;
  /// Whether the windows see all of an input with these spatial extents, and some places several
  /// times.
  bool repeat(llvm::ArrayRef<std::int64_t> inputPlaces) const;
  /// Which of the `count` indices of an input's spatial axis the windows see.
  llvm::BitVector seen(std::size_t axis, std::int64_t count) const;
  /// The number of slices of the input that the patches are made of.
  std::int64_t slices() const;

  Axes window, places, strides, dilation;
  Axes low, high, interior; ///< padding before, after and between elements
  std::int64_t groups;      ///< feature groups
  std::int64_t batchGroups; ///< batch groups
};

/// The patches of an input [batch, places.., features]: [batch, places.., window * features], the
/// window row-major. Padding is filled with the one number in `padding`.
mlir::Value patchesOf(mlir::OpBuilder& builder, const Windows& windows, mlir::Value input,
                      mlir::DenseElementsAttr padding);

/// Patches with the contracted elements of a group as the last axis: [batch, places.., group,
/// window * features], or [group, batch, places.., window * features]. Of one group: unchanged.
mlir::Value byGroups(mlir::OpBuilder& builder, const Windows& windows, mlir::Value patches);

/// A convolution as a product of patches.
struct ProductOfPatches {
  /// [batch, places.., window * features] by [window * features, out]. Several groups become a
  /// batch axis of both sides. With feature groups, and a known number of images, the window keeps
  /// an axis of its own.
  stablehlo::DotGeneralOp dot;
  mlir::Value input;  ///< the tensor that the windows lie on, [batch, places.., features]
  mlir::Value result; ///< the convolution's result, made of the dot's
};

/// Writes the product before a convolution: the input, cut to what the windows see and padded; the
/// patches; and their dot. It sums in the order of the convolution (rule I21).
ProductOfPatches writePatches(stablehlo::ConvolutionOp op, Windows& windows);

} // namespace octavo::transforms
