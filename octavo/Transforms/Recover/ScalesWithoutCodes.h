// Explains dots on E8M0 scales that do not multiply codes.
#pragma once

#include "octavo/Transforms/Recover/DequantizationTrace.h"

namespace octavo::transforms {

/// The obstacle of a side that is computed from E8M0 scales but not from codes: the first
/// operation, from the dot upward, that is more than data movement; the dot if it multiplies the
/// scales themselves.
Obstacle scalesWithoutCodes(mlir::Operation* dot, mlir::Value side, DequantizationTraces& origins);

} // namespace octavo::transforms
