// Convolutions as products of patches.
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/Windows.h"

namespace octavo::transforms {

/// Whether a convolution is one: of one feature and batch group, windows not reversed, known
/// extents.
bool isOfPatches(stablehlo::ConvolutionOp op);

struct ProductOfPatches {
  stablehlo::DotGeneralOp dot; ///< [batch, places.., window * features] by [window * features, out]
  mlir::Value result;          ///< the convolution's, of the dot's
};

/// Writes it before a convolution that isOfPatches: the input padded, a slice for each place of the
/// window, side by side, in the order in which the convolution sums (rule I21).
ProductOfPatches writePatches(stablehlo::ConvolutionOp op);

} // namespace octavo::transforms
