// What a program computes from its open extents, other than shapes.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::session {

/// How a program uses its open extents.
struct ExtentUses {
  /// An operation that prevents one program for all batch sizes, because its result depends on open
  /// extents like a minimum of two does. Empty if there is none.
  std::string decision;
  /// Operands that use sums and products of extents as numbers at run time. Assertions, numbers
  /// that are equal for all extents, and operands that are shapes do not count.
  std::vector<mlir::OpOperand*> numbers;
  /// All this holds for extents from this one on; some smaller ones decide otherwise.
  std::int64_t least = 0;
};

/// Finds the uses of open extents. Inlines the program's calls, because a function's argument may
/// be a different number in each call.
ExtentUses usesOfExtents(mlir::ModuleOp program);

} // namespace octavo::session
