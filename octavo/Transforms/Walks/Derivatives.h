// What of a program differentiating in reverse has made, by the names that JAX gives it.
#pragma once

#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>

namespace octavo::transforms {

/// Of a program that is differentiated in reverse.
enum class Pass : std::uint8_t {
  Forward,
  Recomputed, ///< of the forward pass, once more for the backward one (jax.checkpoint)
  Backward,
};

/// Which pass computes what, of a program as it stands. Functions and values are looked at once.
class Derivatives {
public:
  explicit Derivatives(const ProgramCalls& program);

  /// By the operation's name, else that of a loop or branch around it, else of the calls of its
  /// function if they agree: after `transpose(` it is backward, after `rematted_computation`, where
  /// that is said last, recomputed.
  Pass passOf(mlir::Operation* op) const;

  /// Whether a value is a gradient: an operation of the backward pass computes it. What only moves
  /// values is looked through, and so are loops and functions that are given a gradient, the latter
  /// by all calls.
  bool isDerivative(mlir::Value value);

private:
  const ProgramCalls& program;
  llvm::DenseMap<mlir::Operation*, Pass> passes; ///< of functions that are not forward
  llvm::DenseMap<mlir::Value, bool> known;
};

} // namespace octavo::transforms
