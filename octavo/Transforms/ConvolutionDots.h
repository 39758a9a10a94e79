// Convolutions as dots of patches, for passes that choose what happens to dots.
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/Windows.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace octavo::transforms {

/// Why it is not written as a dot of patches; empty where it is: of floats and known extents, of
/// one group, and of patches that are made of few slices.
std::string reasonToStay(stablehlo::ConvolutionOp op);

/// A convolution whose dot is in its place.
class ConvolutionDot {
public:
  /// Precondition: reasonToStay(op) is empty.
  explicit ConvolutionDot(stablehlo::ConvolutionOp op);

  stablehlo::DotGeneralOp dot() const { return product; }
  /// Has the convolution be in the place of the dot again.
  void putBack();
  /// Erases the convolution.
  void finish() { convolution.erase(); }

private:
  stablehlo::ConvolutionOp convolution;
  stablehlo::DotGeneralOp product;
  mlir::Value result;
  llvm::SmallVector<mlir::Operation*> written;
};

std::vector<ConvolutionDot> writeConvolutionDots(mlir::ModuleOp module);

} // namespace octavo::transforms
