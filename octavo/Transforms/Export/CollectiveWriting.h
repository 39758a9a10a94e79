// Collectives that passes write beside those of the program.
#pragma once

#include "octavo/Dialect/StableHLO/Collectives.h"

namespace octavo::transforms {

/// A channel of the kind of the operation's own that nothing in the module has; null where the
/// operation has none.
stablehlo::ChannelHandleAttr freshChannel(mlir::Operation* op);

/// The elementwise maximum of a tensor over the processes that `gather` brings together.
mlir::Value allReducedMaximum(mlir::OpBuilder& builder, stablehlo::AllGatherOp gather,
                              mlir::Value value);

} // namespace octavo::transforms
