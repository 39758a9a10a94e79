// Ragged dots as dots of all rows and the matrices of all groups, for passes that choose what
// happens to dots.
#pragma once

#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Octavo/RowsOfGroups.h"
#include "octavo/Dialect/StableHLO/Contraction.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace octavo::transforms {

/// A ragged dot whose dot, of which each row takes what it has of its own group, is in its place.
class DotOfGroups {
public:
  explicit DotOfGroups(chlo::RaggedDotOp op);

  chlo::RaggedDotOp operation() const { return ragged; }
  stablehlo::DotGeneralOp dot() const { return product; }
  /// Has the ragged dot be in the place of the dot again.
  void putBack();
  /// Has rows of no group be zeros before they are multiplied: what they have counts for nothing,
  /// and is not to be refused or to count for a scale. Not where the number of groups is open.
  void leaveOutRowsOfNone();
  /// Erases the ragged dot.
  void finish() { ragged.erase(); }

private:
  chlo::RaggedDotOp ragged;
  stablehlo::DotGeneralOp product;
  ir::RowsOfGroupsOp rows;
};

/// Has composites that are ragged dots, as JAX's exporter writes them, be these.
void openRaggedDots(mlir::ModuleOp module);

/// Writes those, and such composites, of floats whose ragged axis is the one free axis of lhs, and
/// whose groups are the first axis of rhs.
std::vector<DotOfGroups> writeRaggedDots(mlir::ModuleOp module);

} // namespace octavo::transforms
