// Data movement family: operations that move elements, and constants and iota.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/DataMovement.h.inc"

namespace octavo::stablehlo {

/// Verifies C1 and C6 of broadcasts: the element type stays the same, the quantization dimension
/// moves with its axis, and a stretched axis repeats its only scale and zero point. `dimensions`
/// gives for each axis of the operand the axis of the result.
llvm::LogicalResult verifyBroadcastElements(const Checker& check,
                                            llvm::ArrayRef<std::int64_t> dimensions,
                                            mlir::RankedTensorType operand,
                                            mlir::RankedTensorType result);

} // namespace octavo::stablehlo
