// Fused dots opened.
#pragma once

#include "mlir/IR/Operation.h"

namespace octavo::transforms {

/// Puts the bodies of all octavo.fused_dot below an operation in their places.
void inlineFusedDots(mlir::Operation* root);

} // namespace octavo::transforms
