// Convolutions of f32 and bf16 as matrix products. A row of the left matrix is the patch of the
// input that one place of the result sees; a column of the right matrix has one feature's weights.
#pragma once

#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Program/Steps/Products/Convolution.h"

#include "mlir/IR/Value.h"

#include <optional>

namespace octavo::compiler {

/// A convolution as a product of patches by weights.
struct PatchProduct {
  mlir::Value input, weight;     ///< where the two operands lie
  program::OpenPatchShape shape; ///< strides and offsets of both
};

/// The product of a convolution. nullopt if the type is not f32 or bf16 with an f32 result, if
/// kernels sum the convolution, if the input's features are not adjacent in memory, or if the
/// result's axes are not in the order [batch, places, features]. layOutConvolution establishes the
/// last two.
std::optional<PatchProduct> patchProduct(stablehlo::ConvolutionOp op);

/// Rewrites a static f32 or bf16 convolution that kernels do not sum. If its window is one place
/// and it has no groups, it becomes a dot. Otherwise transposes make it one that patchProduct
/// accepts.
void layOutConvolution(stablehlo::ConvolutionOp op);

} // namespace octavo::compiler
