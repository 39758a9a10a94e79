// Inlines octavo.fused_dot.
#pragma once

#include "mlir/IR/Operation.h"

namespace octavo::transforms {

/// Replaces every octavo.fused_dot below `root` by its body.
void inlineFusedDots(mlir::Operation* root);

} // namespace octavo::transforms
