// Moves the codes and scales of weights that are quantized before data movement takes them to their
// dots.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/Walks/MergedAxes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <tl/expected.hpp>

#include <string>

namespace octavo::transforms {

/// The type in which a root is quantized so that `movement` (from the operand back to the root)
/// turns its codes and scales into those of `operand`. Fails with the operation that prevents it.
tl::expected<ir::ScaledType, std::string> typeBefore(llvm::ArrayRef<mlir::Operation*> movement,
                                                     ir::ScaledType operand);

/// The same for an operand of `shape` whose contracted axes are merged.
tl::expected<ir::ScaledType, std::string>
typeBefore(const MergedAxes& merged, llvm::ArrayRef<std::int64_t> shape, ir::ScaledType operand);

/// Applies data movement to the codes and scales of roots.
class MovedWeights {
public:
  /// The operand, of type `type`: `scaled`, which has replaced `root`, after `movement` and, if not
  /// null, `merged`. Written at the builder's insertion point, where `scaled` must be defined.
  mlir::Value at(mlir::OpBuilder& builder, mlir::Location location, mlir::Value root,
                 mlir::Value scaled, llvm::ArrayRef<mlir::Operation*> movement,
                 const MergedAxes* merged, ir::ScaledType type);

  /// Erases the operations that only traced the movement.
  void finish();

private:
  mlir::Value wideRoot(mlir::Value root, mlir::Value scaled);

  DequantizationTraces origins;
  /// Wide values of scaled roots, on which the movement is traced.
  llvm::DenseMap<mlir::Value, mlir::Value> wide;
  llvm::SmallVector<mlir::Operation*> shown;
};

} // namespace octavo::transforms
