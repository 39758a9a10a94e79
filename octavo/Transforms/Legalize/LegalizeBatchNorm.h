// Legalizes batch_norm_inference, batch_norm_training and batch_norm_grad to elementwise operations
// and sums.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace octavo::transforms {

/// Replaces each by the specification's formulas in f64 with every result rounded once (I21), if
/// all types are floats of known extents.
void legalizeBatchNorm(mlir::ModuleOp module);

} // namespace octavo::transforms
