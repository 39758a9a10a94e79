// Makes program::OperationText from an MLIR operation.
#pragma once

#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/Octavo/QuantizedInput.h"
#include "octavo/Program/Values/OperationText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace octavo::program {

/// `op` must be inside a function. `input` is set for octavo.quantize only.
inline OperationText textOf(mlir::Operation* op) {
  auto quantize = llvm::dyn_cast<ir::QuantizeOp>(op);
  return {.name = op->getName().getStringRef().str(),
          .location = locationText(op->getLoc()),
          .source = sourceName(op->getLoc()),
          .function = op->getParentOfType<mlir::func::FuncOp>().getName().str(),
          .input = quantize ? ir::quantizedInput(quantize, std::nullopt).name : ""};
}

} // namespace octavo::program
