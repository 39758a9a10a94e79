#include "octavo/Dialect/Donation.h"

namespace octavo {

bool isDonatedTo(mlir::func::FuncOp function, unsigned argument, unsigned result) {
  if (function.getArgumentTypes()[argument] != function.getResultTypes()[result])
    return false;
  if (auto named = function.getArgAttrOfType<mlir::IntegerAttr>(argument, "tf.aliasing_output"))
    return named.getValue() == result;
  auto donor = function.getArgAttrOfType<mlir::BoolAttr>(argument, "jax.buffer_donor");
  return donor && donor.getValue();
}

} // namespace octavo
