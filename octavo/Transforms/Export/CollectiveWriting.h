// Writes collectives beside those of the program.
#pragma once

#include "octavo/Dialect/StableHLO/Collectives.h"

namespace octavo::transforms {

/// A channel handle of the same kind as the operation's, with an id that the module does not use;
/// null if the operation has none.
stablehlo::ChannelHandleAttr freshChannel(mlir::Operation* op);

/// The elementwise maximum of `value` over the processes that `gather` spans.
mlir::Value allReducedMaximum(mlir::OpBuilder& builder, stablehlo::AllGatherOp gather,
                              mlir::Value value);

} // namespace octavo::transforms
