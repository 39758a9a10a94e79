// Who calls a function.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"

namespace octavo::transforms {

/// The calls of a private function of a verified module; none where nothing calls it, or something
/// that is no call names it.
llvm::SmallVector<mlir::func::CallOp> callsOf(mlir::func::FuncOp function);

} // namespace octavo::transforms
