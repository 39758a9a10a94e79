// Recognizes the operations by which XLA and JAX express a product of scaled tensors.
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"

#include <array>
#include <optional>
#include <variant>

namespace octavo::transforms {

/// The product that such an operation means.
struct ScaledCall {
  struct Side {
    mlir::Value wide;                 ///< value of a side without scales
    std::optional<Dequantized> parts; ///< codes and scales of a scaled side
  };
  std::array<Side, 2> sides;
  stablehlo::DotDimensionNumbersAttr dimensions;
  mlir::Value global; ///< factor of the product, in its type; null: none
};

/// Whether `op` is one of
/// - `stablehlo.composite "xla.scaled_dot"`;
/// - the custom call `__op$block_scaled_dot`;
/// - that call before partitioning, `CustomSPMDPartitioning` of [B, M, K], [B, N, K] and their
///   scales. Only its sharding rule tells what it is, since JAX keeps its meaning in a Python
///   function.
bool isScaledCall(mlir::Operation* op);

/// The product that such an operation means, or the obstacle: what octavo.dot_general cannot
/// express.
std::variant<ScaledCall, Obstacle> scaledCall(mlir::Operation* op);

} // namespace octavo::transforms
