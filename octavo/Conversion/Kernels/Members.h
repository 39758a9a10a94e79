// Operations of kernels that are neither views nor elementwise: which there are, and how a
// reduction combines.
#pragma once

#include "octavo/Conversion/Kernels/Scalars.h"
#include "octavo/Dialect/StableHLO/Reduction.h"

#include <string>

namespace octavo::conversion {

/// The one value of a constant's elements, as its bits; nothing for constants of several.
std::optional<llvm::APInt> splatBits(mlir::Value constant);

/// How a reduction combines elements. Where the body is one operation of its two arguments, floats
/// accumulate in f32, or f64, and the order of a sum is the machine's (docs/semantics.md, section
/// C).
class Combination {
public:
  explicit Combination(stablehlo::ReduceOp op);

  /// Why there is no code for it; empty where there is.
  static std::string whyNotCompiled(stablehlo::ReduceOp op);

  /// An element of input i, or its initial value, of type `from`, as it is accumulated.
  llvm::Value* enter(Scalars& scalars, std::size_t i, mlir::Type from, llvm::Value* value) const;
  llvm::SmallVector<llvm::Value*> combine(Scalars& scalars, llvm::ArrayRef<llvm::Value*> sums,
                                          llvm::ArrayRef<llvm::Value*> elements) const;
  /// What is accumulated of input i as an element of the result.
  llvm::Value* leave(Scalars& scalars, std::size_t i, llvm::Value* sum) const;

private:
  mutable stablehlo::ReduceOp op;
  mlir::Operation* single;                    ///< the body's one operation, or null
  llvm::SmallVector<mlir::Type> accumulators; ///< of each input
};

} // namespace octavo::conversion
