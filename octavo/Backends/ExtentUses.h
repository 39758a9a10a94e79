// What a program computes with the extents that it leaves open, besides shapes.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace octavo::backends {

struct ExtentUses {
  /// The operation that takes for a number what is decided by extents, as the least of two. Empty
  /// where there is none.
  std::string decision;
  /// What takes sums and products of extents for a number, besides. Assertions, and numbers that
  /// all extents make the same, do not count, nor do shapes that are such, or decided alike by all
  /// of one and more.
  std::vector<mlir::OpOperand*> numbers;
};

ExtentUses usesOfExtents(mlir::ModuleOp program);

} // namespace octavo::backends
