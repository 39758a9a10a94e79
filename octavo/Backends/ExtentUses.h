// What a program computes with the extents that it leaves open, besides shapes.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace octavo::backends {

/// The operation that takes an open extent, or what depends on one, for a number: it may decide by
/// it what else is computed. Empty where there is none. Assertions, and numbers that all extents
/// make the same, do not count, nor do shapes that are sums and products of extents, or decided
/// alike by all of one and more.
std::string usesOfExtents(mlir::ModuleOp program);

} // namespace octavo::backends
