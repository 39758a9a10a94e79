// Replaces convolutions by dots of patches (im2col), for passes that decide about dots.
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

/// A convolution that its dot of patches has replaced.
class ConvolutionDot {
public:
  explicit ConvolutionDot(stablehlo::ConvolutionOp op);

  stablehlo::DotGeneralOp dot() const { return product; }
  /// Features of a group, at each place of a window.
  std::int64_t features() const { return featuresOfGroup; }

  /// The convolution's input; valid until finish().
  mlir::Value input() { return convolution.getLhs(); }
  /// For each axis of input(): which indices the windows see; an empty list means all.
  std::vector<std::vector<bool>> seenOfInput();

  /// The tensor [batch, places.., features] that the left side's patches are cut from, if the
  /// patches have all of its elements and some several times; else null.
  mlir::Value repeatedInput() const;
  /// The left side of the dot, from `input`, with its contracted axes merged, padded with the
  /// number in `padding`.
  mlir::Value leftOf(mlir::OpBuilder& builder, mlir::Value input,
                     mlir::DenseElementsAttr padding) const;

  /// How to quantize a tensor with blocks along its last axis.
  struct Quantization {
    llvm::function_ref<ir::ScaledType(llvm::ArrayRef<std::int64_t> shape)> type;
    llvm::function_ref<mlir::Value(mlir::Value value, ir::ScaledType type)> quantize;
    const numerics::QuantizeOptions& options;
  };
  /// The left side as patches of codes and scales of the input, so that the input is quantized once
  /// instead of for each window that sees it. Null if that saves nothing or changes values:
  /// - blocks extend over several places of a window;
  /// - windows do not see part of the input;
  /// - one scale covers an open number of images.
  mlir::Value quantizedLeft(llvm::ArrayRef<std::int64_t> shape,
                            const Quantization& quantization) const;

  /// The operations that form the dot and its patches.
  llvm::ArrayRef<mlir::Operation*> operations() const { return written; }
  /// Undoes the replacement.
  void putBack();
  /// Erases the convolution, which makes the replacement final.
  void finish() { convolution.erase(); }

private:
  stablehlo::ConvolutionOp convolution;
  Windows windows;
  std::int64_t featuresOfGroup;
  stablehlo::DotGeneralOp product;
  mlir::Value result;
  llvm::SmallVector<mlir::Operation*> written;
  mlir::Operation* firstOfPatches = nullptr; ///< reads the input, whose producer may change
};

/// Convolutions that became dots, and those that are left.
struct ConvolutionDots {
  std::vector<ConvolutionDot> written;
  llvm::DenseMap<mlir::Operation*, std::string> left; ///< convolutions that are left, and the
                                                      ///< reasons
};

/// Replaces convolutions of floats with known extents (the number of images may be open), several
/// features in a group, and patches made of few slices.
ConvolutionDots writeConvolutionDots(mlir::ModuleOp module);

} // namespace octavo::transforms
