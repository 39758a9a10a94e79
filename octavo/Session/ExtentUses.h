// What a program computes with the extents that it leaves open, besides shapes.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::session {

struct ExtentUses {
  /// The operation that takes for a number what is decided by extents, as the least of two. Empty
  /// where there is none.
  std::string decision;
  /// What takes sums and products of extents for a number, besides. Assertions, and numbers that
  /// all extents make the same, do not count, nor do shapes that are such.
  std::vector<mlir::OpOperand*> numbers;
  /// The extents from which on this is so: of smaller ones something is decided otherwise.
  std::int64_t least = 0;
};

/// Opens the calls of the program: what a function is given may be another number in each.
ExtentUses usesOfExtents(mlir::ModuleOp program);

} // namespace octavo::session
