// Convolutions of f32 and bf16 as products of matrices: a row of the left one is the patch of the
// input that one place of the result sees, a column of the right one a feature's weights.
#pragma once

#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Program/Steps/Products/Convolution.h"

#include "mlir/IR/Value.h"

#include <optional>

namespace octavo::compiler {

struct PatchProduct {
  mlir::Value input, weight; ///< the memory in which they lie
  program::OpenPatchShape shape;
};

/// Nothing for other types, and where the input's features or the result's axes lie otherwise
/// than layOutConvolution has them.
std::optional<PatchProduct> patchProduct(stablehlo::ConvolutionOp op);

/// Has a convolution that kernels do not sum become a dot where its window is one place, or else
/// one for which patchProduct is something: the input's features next to one another, the result
/// as [batch, places, features].
void layOutConvolution(stablehlo::ConvolutionOp op);

} // namespace octavo::compiler
