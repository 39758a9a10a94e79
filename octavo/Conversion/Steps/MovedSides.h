// Weights that reach products as parts of scaled tensors, or in another order: their codes and
// scales are not moved when the program runs.
#pragma once

#include "octavo/Conversion/Kernels/Views.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Steps/MovedWeight.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace octavo::conversion {

/// What a weight is packed from: a scaled tensor that the program has, or constants of its elements
/// and scales, and an outer one.
struct MovedSide {
  mlir::Value whole; ///< null: it is `parts`
  llvm::SmallVector<mlir::Value> parts;
  steps::Gathered elements, scales;
  std::int64_t slices = 1;
  mlir::Value index = {}; ///< which slice; null: there is one
};

/// Nothing where codes and scales come from elsewhere, or are more than moved about.
std::optional<MovedSide> movedSide(ir::PackOp pack);

/// An element of one of several slices along an axis, as an element of what they are slices of.
struct SlicedElement {
  Element element;
  std::int64_t slices;
  mlir::Value index; ///< which slice
};

/// `variable` counts the slices. Nothing where the element's tensor is none of such.
std::optional<SlicedElement> throughSlice(const Element& element, int variable, Unknowns& unknowns);

/// A slice of an argument of the function, or all of one.
struct KeptSlice {
  mlir::Value tensor;
  std::int64_t offset = 0, stride = 0; ///< of the first slice, and of each farther one, in elements
  std::int64_t slices = 1;
  mlir::Value index = {}; ///< which slice; null: there is one
};

/// Nothing where the values do not lie in an argument one after the other.
std::optional<KeptSlice> keptSlice(mlir::Value values);

/// Whether an operation gives parts, or a slice of some, that nothing reads but products that
/// gather them from where they were before.
bool isOnlyMoved(mlir::Operation* op);

/// Has dots whose right sides are of such parts have what moves them beside them.
void bringMovement(mlir::func::FuncOp function);

} // namespace octavo::conversion
