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

std::vector<Donation> donations(mlir::func::FuncOp function) {
  std::vector<Donation> list;
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      if (isDonatedTo(function, argument, result) &&
          llvm::none_of(list, [&](const Donation& each) { return each.argument == argument; })) {
        list.push_back({argument, result});
        break;
      }
  return list;
}

} // namespace octavo
