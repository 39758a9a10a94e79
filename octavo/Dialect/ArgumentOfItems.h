// Marks the arguments whose extents were open before a program was closed for one batch size. Each
// run gives them another value, so they are not weights.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

#include <cstdint>

namespace octavo {

/// Attribute of a function: the numbers of these arguments.
inline constexpr llvm::StringLiteral kArgumentsOfItems = "arguments_of_items";

/// Sets the attribute of `function`; replaces an earlier one.
inline void markOfItems(mlir::func::FuncOp function, llvm::ArrayRef<std::int64_t> arguments) {
  function->setAttr(kArgumentsOfItems,
                    mlir::DenseI64ArrayAttr::get(function.getContext(), arguments));
}

/// Whether `value` is an argument of a function (or of another region's operation) that is marked.
inline bool isOfItems(mlir::Value value) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  if (!argument)
    return false;
  const auto marked =
      argument.getOwner()->getParentOp()->getAttrOfType<mlir::DenseI64ArrayAttr>(kArgumentsOfItems);
  return marked && llvm::is_contained(marked.asArrayRef(), argument.getArgNumber());
}

} // namespace octavo
