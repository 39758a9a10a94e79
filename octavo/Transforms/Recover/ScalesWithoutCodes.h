// Scales of E8M0 that multiply what is no tensor of codes.
#pragma once

#include "octavo/Transforms/Recover/DequantizationTrace.h"

namespace octavo::transforms {

/// What keeps a side of a dot wide that comes from scales of E8M0 and from no codes: the first
/// operation, from the dot upward, that is more than a move.
Obstacle scalesWithoutCodes(mlir::Operation* dot, mlir::Value side, DequantizationTraces& origins);

} // namespace octavo::transforms
