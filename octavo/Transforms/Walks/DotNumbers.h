// Numbers the dots in program order, so that a dot can be found again after the program has been
// rewritten.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"

#include <cstddef>
#include <optional>

namespace octavo::transforms {

/// Marks every dot_general of a module with its number, from 0: its index in DotReport::dots.
/// quantizeDots keeps the mark on the operation that replaces the dot; copies have it too.
void numberDots(mlir::ModuleOp module);

/// The number of `op`; nullopt if it has none.
std::optional<std::size_t> numberOfDot(mlir::Operation* op);

} // namespace octavo::transforms
