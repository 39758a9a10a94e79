// Convolutions as dots of patches, for passes that choose what happens to dots.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Transforms/Legalize/ConvolutionPatches.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace octavo::transforms {

/// A convolution whose dot is in its place.
class ConvolutionDot {
public:
  explicit ConvolutionDot(stablehlo::ConvolutionOp op);

  stablehlo::DotGeneralOp dot() const { return product; }
  /// Of a group, at each place of a window.
  std::int64_t features() const { return featuresOfGroup; }

  /// The convolution's input as the program has it, before finish().
  mlir::Value input() { return convolution.getLhs(); }
  /// Of each axis of input() its places that windows see; empty for an axis that is seen whole.
  std::vector<std::vector<bool>> seenOfInput();

  /// What the left side has patches of, [batch, places.., features], where it has all of its
  /// elements and some several times; null elsewhere.
  mlir::Value repeatedInput() const;
  /// The left side of what the input has become, its contracted axes as one; padded with the one
  /// number of `padding`.
  mlir::Value leftOf(mlir::OpBuilder& builder, mlir::Value input,
                     mlir::DenseElementsAttr padding) const;

  /// How a tensor is quantized, whose last axis is blocked along.
  struct Quantization {
    llvm::function_ref<ir::ScaledType(llvm::ArrayRef<std::int64_t> shape)> type;
    llvm::function_ref<mlir::Value(mlir::Value value, ir::ScaledType type)> quantize;
    const numerics::QuantizeOptions& options;
  };
  /// The left side as patches of codes and scales of its
  /// input, which is quantized once and not once for each window that sees it. Null where that
  /// saves nothing or would be another tensor: where blocks go over places, or windows leave a part
  /// of the input out; and where one scale is of an open number of images.
  mlir::Value quantizedLeft(llvm::ArrayRef<std::int64_t> shape,
                            const Quantization& quantization) const;

  /// What it is written of.
  llvm::ArrayRef<mlir::Operation*> operations() const { return written; }
  /// Has the convolution be in the place of the dot again.
  void putBack();
  /// Erases the convolution.
  void finish() { convolution.erase(); }

private:
  stablehlo::ConvolutionOp convolution;
  Windows windows;
  std::int64_t featuresOfGroup;
  stablehlo::DotGeneralOp product;
  mlir::Value result;
  llvm::SmallVector<mlir::Operation*> written;
  mlir::Operation* firstOfPatches = nullptr; ///< reads the input, wherever that is taken from
};

struct ConvolutionDots {
  std::vector<ConvolutionDot> written;
  llvm::DenseMap<mlir::Operation*, std::string> left; ///< convolutions, and why they are
};

/// Writes those of floats and known extents but for the number of images, of groups of several
/// features, and of patches that are made of few slices.
ConvolutionDots writeConvolutionDots(mlir::ModuleOp module);

} // namespace octavo::transforms
