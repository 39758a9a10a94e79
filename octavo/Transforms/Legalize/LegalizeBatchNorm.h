// batch_norm_inference, batch_norm_training and batch_norm_grad as elementwise operations and sums.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace octavo::transforms {

/// Has each become the specification's formulas in f64, every result rounded once (I21), where all
/// types are floats of known extents.
void legalizeBatchNorm(mlir::ModuleOp module);

} // namespace octavo::transforms
