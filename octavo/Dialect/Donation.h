// Which memory of arguments a program gives away for its results.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace octavo {

/// Whether an argument's memory may become that of a result, as JAX's donate_argnums writes it:
/// `tf.aliasing_output` names the result, `jax.buffer_donor` leaves the choice. Both are of one
/// type.
bool isDonatedTo(mlir::func::FuncOp function, unsigned argument, unsigned result);

} // namespace octavo
