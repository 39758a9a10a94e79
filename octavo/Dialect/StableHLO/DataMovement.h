// Data movement family: elements to other places, and tensors from nothing.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/DataMovement.h.inc"

namespace octavo::stablehlo {

/// C1 and C6 of operations that broadcast: elements keep their type, a quantization dimension goes
/// where its axis goes, and a stretched axis repeats its one scale and zero point. `dimensions` is
/// the axis of the result for each axis of the operand.
llvm::LogicalResult verifyBroadcastElements(const Checker& check,
                                            llvm::ArrayRef<std::int64_t> dimensions,
                                            mlir::RankedTensorType operand,
                                            mlir::RankedTensorType result);

} // namespace octavo::stablehlo
