// Which arguments donate their memory to results.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace octavo {

/// Whether `result` may use the memory of `argument`, as JAX's donate_argnums marks it.
/// `tf.aliasing_output` names the result; `jax.buffer_donor` permits any result. Argument and
/// result must have the same type.
bool isDonatedTo(mlir::func::FuncOp function, unsigned argument, unsigned result);

} // namespace octavo
