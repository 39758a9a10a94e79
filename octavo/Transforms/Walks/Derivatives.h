// Which operations belong to the backward pass, by the names that JAX writes into locations.
#pragma once

#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>

namespace octavo::transforms {

/// A part of a program differentiated in reverse mode.
enum class Pass : std::uint8_t {
  Forward,
  Recomputed, ///< the forward pass computed again for the backward one (jax.checkpoint)
  Backward,
};

/// Assigns operations to passes. Answers hold for the program as it is at construction: each
/// function and value is analyzed once.
class Derivatives {
public:
  explicit Derivatives(const ProgramCalls& program);

  /// The pass of `op` by its location's name; if that says nothing, by the loop or branch around
  /// it; else by the calls of its function, if they agree. A name with `transpose(` means Backward;
  /// with `rematted_computation` after it, or alone, Recomputed.
  Pass passOf(mlir::Operation* op) const;

  /// Whether an operation of the backward pass computes `value`. Data movement is looked through;
  /// so are loops that are given a gradient, and functions to which every call gives one.
  bool isDerivative(mlir::Value value);

private:
  const ProgramCalls& program;
  llvm::DenseMap<mlir::Operation*, Pass> passes; ///< keys: functions that are not forward
  llvm::DenseMap<mlir::Value, bool> known;
};

} // namespace octavo::transforms
