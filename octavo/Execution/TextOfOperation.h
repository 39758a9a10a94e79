// The text of an operation of MLIR.
#pragma once

#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Execution/OperationText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace octavo::execution {

/// Of an operation of a function.
inline OperationText textOf(mlir::Operation* op) {
  return {.name = op->getName().getStringRef().str(),
          .location = locationText(op->getLoc()),
          .source = sourceName(op->getLoc()),
          .function = op->getParentOfType<mlir::func::FuncOp>().getName().str()};
}

} // namespace octavo::execution
