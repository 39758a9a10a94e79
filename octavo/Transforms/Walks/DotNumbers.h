// Dots are numbered in the order of the program, so that what becomes of one can be found again in
// what becomes of the program.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"

#include <cstddef>
#include <optional>

namespace octavo::transforms {

/// Marks every dot of a module with its number, from 0: its place in DotReport::dots. The mark
/// stays where quantizeDots makes it another operation, and on copies.
void numberDots(mlir::ModuleOp module);

/// The number of an operation that has one.
std::optional<std::size_t> numberOfDot(mlir::Operation* op);

} // namespace octavo::transforms
