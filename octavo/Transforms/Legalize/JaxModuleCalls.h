// The calls that octavo.jax makes within JAX programs, as the operations that they stand for.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace octavo::transforms {

/// Has calls of octavo.jax (octavo_quantize, octavo_dequantize, octavo_convert, octavo_product) be
/// operations of the octavo dialect, and octavo_outer products of StableHLO's. Left are those that
/// it has no operation for: a quantization under an outer scale that is given, members of a batch
/// that have outer scales of their own, and six-bit floats, which JAX holds as bytes. Whether there
/// were some: one that octavo.jax would not make may be an operation that does not verify.
bool openJaxModuleCalls(mlir::ModuleOp module);

} // namespace octavo::transforms
