// Weights that are quantized as a whole and reach their dots moved about, as codes and scales.
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

/// The type in which a root is quantized so that what moves it, from the operand back to the root,
/// gives codes and scales of `operand`: those that the operand's own values have. The error says
/// what stands in the way.
tl::expected<ir::ScaledType, std::string> typeBefore(llvm::ArrayRef<mlir::Operation*> movement,
                                                     ir::ScaledType operand);

/// The same of an operand whose contracted axes are merged.
tl::expected<ir::ScaledType, std::string>
typeBefore(const MergedAxes& merged, llvm::ArrayRef<std::int64_t> shape, ir::ScaledType operand);

/// Does to the codes and scales of roots what moves their values.
class MovedWeights {
public:
  /// The operand of type `type` that comes of a scaled root, which has taken the place of the value
  /// that the movement begins with, at a place where it is known; `merged` at last, if there is
  /// one.
  mlir::Value at(mlir::OpBuilder& builder, mlir::Location location, mlir::Value root,
                 mlir::Value scaled, llvm::ArrayRef<mlir::Operation*> movement,
                 const MergedAxes* merged, ir::ScaledType type);

  /// Erases what only showed the way.
  void finish();

private:
  mlir::Value wideRoot(mlir::Value root, mlir::Value scaled);

  DequantizationTraces origins;
  /// The values of scaled roots, moved as these are.
  llvm::DenseMap<mlir::Value, mlir::Value> wide;
  llvm::SmallVector<mlir::Operation*> shown;
};

} // namespace octavo::transforms
