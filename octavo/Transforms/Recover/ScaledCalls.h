// Operations by which XLA and JAX mean a product of scaled tensors.
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"

#include <array>
#include <optional>
#include <variant>

namespace octavo::transforms {

/// What one means.
struct ScaledCall {
  struct Side {
    mlir::Value wide;                 ///< of a side without scales
    std::optional<Dequantized> parts; ///< of one with scales
  };
  std::array<Side, 2> sides;
  stablehlo::DotDimensionNumbersAttr dimensions;
  mlir::Value global; ///< multiplies the product, in its type; null: nothing does
};

/// `stablehlo.composite "xla.scaled_dot"`; the custom call `__op$block_scaled_dot`; that call while
/// JAX leaves it to a partitioner: `CustomSPMDPartitioning` of [B, M, K], [B, N, K] and their
/// scales, whose sharding rule says so and whose own meaning is a Python function.
bool isScaledCall(mlir::Operation* op);

/// What one of these means, or what of it octavo.dot_general does not say.
std::variant<ScaledCall, Obstacle> scaledCall(mlir::Operation* op);

} // namespace octavo::transforms
