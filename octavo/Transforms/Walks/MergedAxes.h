// The contracted axes of a dot's operand as one, so that blocks of a scaled format can lie along
// it.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace octavo::transforms {

/// An operand with one contracted axis in the place of several. The other axes keep their order, so
/// that the dot's result stays as it is.
struct MergedAxes {
  llvm::SmallVector<std::int64_t> order; ///< of the operand's axes before they are merged
  llvm::SmallVector<std::int64_t> shape;
  llvm::SmallVector<std::int64_t> batching;
  std::int64_t contracting;
};

/// `shape` is static where `contracting` has several axes, and it has at least one. Axes that lie
/// one after another stay where they are; others go last.
MergedAxes mergeContracted(llvm::ArrayRef<std::int64_t> shape,
                           llvm::ArrayRef<std::int64_t> batching,
                           llvm::ArrayRef<std::int64_t> contracting);

/// `value` in that shape, by a transpose and a reshape where they are needed.
mlir::Value applyMerge(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                       const MergedAxes& merged);

} // namespace octavo::transforms
