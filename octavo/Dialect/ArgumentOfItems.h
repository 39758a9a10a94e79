// Arguments whose extents a program leaves open, told where these are known: what they are given is
// another one in each run, as weights are not.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

#include <cstdint>

namespace octavo {

inline constexpr llvm::StringLiteral kArgumentsOfItems = "arguments_of_items";

inline void markOfItems(mlir::func::FuncOp function, llvm::ArrayRef<std::int64_t> arguments) {
  function->setAttr(kArgumentsOfItems,
                    mlir::DenseI64ArrayAttr::get(function.getContext(), arguments));
}

inline bool isOfItems(mlir::Value value) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  if (!argument)
    return false;
  const auto marked =
      argument.getOwner()->getParentOp()->getAttrOfType<mlir::DenseI64ArrayAttr>(kArgumentsOfItems);
  return marked && llvm::is_contained(marked.asArrayRef(), argument.getArgNumber());
}

} // namespace octavo
