// Convolutions that are dots: each place of their result is one of their input.
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/Windows.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace octavo::transforms {

/// Whether it has windows of one place, next to one another, without padding, of one group, and is
/// of floats and known extents.
bool isPointwise(stablehlo::ConvolutionOp op);

/// A convolution whose dot is in its place.
class PointwiseConvolution {
public:
  /// Precondition: isPointwise(op).
  explicit PointwiseConvolution(stablehlo::ConvolutionOp op);

  stablehlo::DotGeneralOp dot() const { return product; }
  /// Has the convolution, which it gives, be in the place of the dot again.
  mlir::Operation* putBack();
  /// Erases the convolution.
  void finish() { convolution.erase(); }

private:
  stablehlo::ConvolutionOp convolution;
  stablehlo::DotGeneralOp product;
  mlir::Value result;
  llvm::SmallVector<mlir::Operation*> written;
};

std::vector<PointwiseConvolution> writePointwise(mlir::ModuleOp module);

} // namespace octavo::transforms
