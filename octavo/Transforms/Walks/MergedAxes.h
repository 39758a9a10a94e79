// Merges the contracted axes of a dot's operand into one, so that blocks of a scaled format can lie
// along it.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace octavo::transforms {

/// How an operand with several contracted axes becomes one with a single one. The other axes keep
/// their order, so the dot's result does not change.
struct MergedAxes {
  llvm::SmallVector<std::int64_t> order; ///< permutation of the operand's axes, applied before they
                                         ///< are merged
  llvm::SmallVector<std::int64_t> shape;
  llvm::SmallVector<std::int64_t> batching;
  /// The one contracted axis after merging.
  std::int64_t contracting;
};

/// The merge for an operand of `shape`. `contracting` has at least one axis; if it has several,
/// `shape` is static. Contracted axes that are adjacent stay in place; others move to the end.
MergedAxes mergeContracted(llvm::ArrayRef<std::int64_t> shape,
                           llvm::ArrayRef<std::int64_t> batching,
                           llvm::ArrayRef<std::int64_t> contracting);

/// `value` transposed and reshaped to `merged`, where either is needed.
mlir::Value applyMerge(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                       const MergedAxes& merged);

} // namespace octavo::transforms
