// Weights that reach a product as parts of scaled tensors or in another order. The product gathers
// codes and scales from where they lie, so that no step moves them at run time.
#pragma once

#include "octavo/Compiler/Plan/IndexedSlices.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Program/Steps/Products/GatheredWeight.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace octavo::compiler {

/// What a weight is packed from: a scaled tensor of the program, or its parts (elements, scales and
/// perhaps an outer scale) that recur.
struct GatheredSide {
  mlir::Value whole; ///< the scaled tensor; null: `parts`
  llvm::SmallVector<mlir::Value> parts;
  /// Where each element and scale of the weight lies in its tensor.
  program::Gathered elements, scales;
  IndexedSlices choices = {}; ///< the slices that the weight is; empty: all of the tensor
};

/// The weight that `pack` makes, gathered from its sources. The first `batchAxes` axes count its
/// matrices. nullopt if elements and scales do not come from one scaled tensor or from recurring
/// parts, if they are computed and not only moved, or if nothing moves them.
std::optional<GatheredSide> movedSide(ir::PackOp pack, std::size_t batchAxes);

/// Floats that a quantization reads from a recurring tensor: all of it, or a slice.
struct KeptSlice {
  mlir::Value tensor;         ///< floats of f32 or a type whose values f32 holds
  program::Gathered values;   ///< where each value lies in `tensor`
  IndexedSlices choices = {}; ///< the slice; empty: all of `tensor`
};

/// The recurring tensor that `values` are read from. nullopt if they are computed, if the tensor
/// depends on the batch, or if they are all of a tensor in another order.
std::optional<KeptSlice> keptSlice(mlir::Value values);

/// Copies the operations that move a recurring weight to the block of each dot or quantization that
/// reads it, so that tracing from there reaches the source. Copies that a scaled dot needs are made
/// even in one block. Erases the originals that nothing uses.
void bringMovement(mlir::func::FuncOp function);

} // namespace octavo::compiler
