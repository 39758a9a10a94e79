// Rewrites the program after the formats and the weight plan are decided.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Transforms/Legalize/ConvolutionDots.h"
#include "octavo/Transforms/Quantize/DelayedScales.h"
#include "octavo/Transforms/Quantize/DotChoice.h"
#include "octavo/Transforms/Quantize/MovedWeights.h"
#include "octavo/Transforms/Quantize/QuantizeDots.h"
#include "octavo/Transforms/Quantize/RandomState.h"
#include "octavo/Transforms/Quantize/WeightPlan.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace octavo::transforms {

/// Rewrites the module by a plan: first the weights that are quantized ahead (quantizeRoots), then
/// each dot (replace).
class DotRewriting {
public:
  DotRewriting(const WeightPlan& plan, const ProgramCalls& program)
      : plan(plan), program(program) {}

  /// Quantizes the roots that the plan quantizes ahead.
  void quantizeRoots();
  /// Registers the dot of patches that replaces a convolution.
  void take(const ConvolutionDot& convolution);
  /// Replaces a dot by one of scaled tensors.
  void replace(const Dot& dot);
  /// Erases data movement that only replaced operands used.
  void eraseUnused();
  /// Completes the state arguments and results of functions, and records them in `report`.
  void finishState(DotReport& report);

private:
  struct ScaledSide {
    mlir::Value value;
    llvm::SmallVector<std::int64_t> batching;
    llvm::SmallVector<std::int64_t> contracting;
  };
  mlir::Value taken(const AheadSide& ahead, mlir::Operation* user, const MergedAxes* merged);
  /// `signs` of the Hadamard transform of the contracted axis; null: not rotated.
  ScaledSide scaled(const DotSide& side, mlir::Value signs);
  const ConvolutionDot* convolutionOf(const DotSide& side) const;
  mlir::Value patches(const DotSide& side, const MergedAxes& merged);
  mlir::Value merge(const DotSide& side, const MergedAxes& merged);
  mlir::Value move(const DotSide& side);
  mlir::Value multiplied(mlir::Value value, std::int64_t axis, const ColumnExponents* exponents,
                         bool isWeight, mlir::Location location);
  void giveScaled(mlir::BlockArgument argument, const AheadRoot& ahead);
  mlir::Value quantize(const DotSide& side, mlir::Value value, const MergedAxes& merged);
  mlir::Value quantize(mlir::Value value, ir::ScaledType type, ir::QuantizationAttr quantization,
                       mlir::Location location);
  mlir::Value quantizeDelayed(const DotSide& side, mlir::Value value, const MergedAxes& merged);

  const WeightPlan& plan;
  const ProgramCalls& program;
  llvm::DenseMap<mlir::Operation*, const ConvolutionDot*> convolutions; ///< keys: their dots
  llvm::DenseMap<mlir::Value, mlir::Value> roots;
  MovedWeights weights;
  /// Caches: one merge and one quantization of a value serves all dots that need the same.
  std::map<std::pair<const void*, std::vector<std::int64_t>>, mlir::Value> merges;
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Type, mlir::Attribute>, mlir::Value> inProgram;
  /// Tensors after their columns, along an axis, were multiplied by these exponents.
  llvm::DenseMap<std::tuple<mlir::Value, std::int64_t, const ColumnExponents*>, mlir::Value> moved;
  llvm::SetVector<mlir::Operation*> maybeUnused;
  DelayedScales delayed;
  RandomState random;
  /// Delayed codes of a value, by format, margin and whether rounding is stochastic.
  std::map<std::tuple<const void*, const format::ElementFormat*, int, bool>, DelayedScales::Codes>
      codes;
};

} // namespace octavo::transforms
