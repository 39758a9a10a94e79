// Replaces ragged dots by dots of all rows with the matrices of all groups, for passes that decide
// about dots.
#pragma once

#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Octavo/RowsOfGroups.h"
#include "octavo/Dialect/StableHLO/Contraction.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace octavo::transforms {

/// A ragged_dot that has been replaced by one dot over all groups, followed by rows_of_groups,
/// which keeps each row's own group.
class DotOfGroups {
public:
  explicit DotOfGroups(chlo::RaggedDotOp op);

  chlo::RaggedDotOp operation() const { return ragged; }
  stablehlo::DotGeneralOp dot() const { return product; }
  /// Undoes the replacement.
  void putBack();
  /// Replaces rows of no group by zeros before they are multiplied, so that their values neither
  /// raise a scale nor are refused. Does nothing if the number of groups is open.
  void leaveOutRowsOfNone();
  /// Erases the ragged dot, which makes the replacement final.
  void finish() { ragged.erase(); }

private:
  chlo::RaggedDotOp ragged;
  stablehlo::DotGeneralOp product;
  ir::RowsOfGroupsOp rows;
};

/// Replaces composites by which JAX's exporter writes ragged dots by chlo.ragged_dot.
void openRaggedDots(mlir::ModuleOp module);

/// Replaces ragged dots of floats, such composites included, whose ragged axis is the one free axis
/// of lhs and whose groups are the first axis of rhs.
std::vector<DotOfGroups> writeRaggedDots(mlir::ModuleOp module);

} // namespace octavo::transforms
