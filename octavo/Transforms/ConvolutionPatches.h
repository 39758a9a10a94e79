// Convolutions as products of patches.
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/Windows.h"

namespace octavo::transforms {

struct ProductOfPatches {
  /// [batch, places.., window * features] by [window * features, out]; of several groups, these are
  /// a batch axis of both sides, and those of features leave the window an axis of its own.
  stablehlo::DotGeneralOp dot;
  mlir::Value result; ///< the convolution's, of the dot's
};

/// Writes it before a convolution of known extents: the input padded, and what its windows see, in
/// the order in which the convolution sums (rule I21).
ProductOfPatches writePatches(stablehlo::ConvolutionOp op);

/// The slices of the input that these are made of.
std::int64_t slicesOfPatches(stablehlo::ConvolutionOp op);

} // namespace octavo::transforms
