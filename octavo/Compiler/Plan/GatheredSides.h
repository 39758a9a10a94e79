// Weights that reach products as parts of scaled tensors, or in another order: their codes and
// scales are not moved when the program runs.
#pragma once

#include "octavo/Compiler/Plan/IndexedSlices.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Program/Steps/Products/GatheredWeight.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace octavo::compiler {

/// What a weight is packed from: a scaled tensor that the program has, or its elements and scales,
/// and an outer one, where they come again.
struct GatheredSide {
  mlir::Value whole; ///< null: it is `parts`
  llvm::SmallVector<mlir::Value> parts;
  program::Gathered elements, scales;
  IndexedSlices choices = {}; ///< of slices: by each product, of its own, or of all matrices
};

/// So many of its first axes are of a batch. Nothing where codes and scales come from elsewhere, or
/// are more than moved about.
std::optional<GatheredSide> movedSide(ir::PackOp pack, std::size_t batchAxes);

/// A slice of a tensor that comes again, or all of one.
struct KeptSlice {
  mlir::Value tensor; ///< of floats whose values f32 holds
  program::Gathered values;
  IndexedSlices choices = {};
};

/// Nothing where f32 are other values, or all of a tensor in another order.
std::optional<KeptSlice> keptSlice(mlir::Value values);

/// The operations of a program that give parts, or a slice of some, that nothing reads but products
/// that gather them from where they were before. The program does not change meanwhile.
class OnlyMoved {
public:
  bool contains(mlir::Operation* op);

private:
  bool isMoved(mlir::Operation* first);

  llvm::DenseMap<mlir::Operation*, bool> known;
};

/// Has dots whose right sides are of such parts have what moves them beside them; and plain dots
/// and quantizations what moves tensors that come again.
void bringMovement(mlir::func::FuncOp function);

} // namespace octavo::compiler
