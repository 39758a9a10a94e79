// Replaces the calls that octavo.jax writes into JAX programs by the operations that they stand
// for.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace octavo::transforms {

/// Replaces calls of octavo.jax: octavo_quantize, octavo_dequantize, octavo_convert and
/// octavo_product by operations of the octavo dialect, octavo_outer by StableHLO products. Calls
/// without such an operation stay: quantization under a given outer scale, samples of a batch with
/// outer scales of their own, and six-bit floats, which JAX holds as bytes. Returns whether any was
/// replaced. The module must then be verified: a call that octavo.jax did not write may have become
/// an invalid operation.
bool openJaxModuleCalls(mlir::ModuleOp module);

} // namespace octavo::transforms
