// Marks numbers that a program computes from the batch size and uses for more than a shape. Such a
// number is put behind an optimization barrier. The program is compiled for sample batch sizes, and
// the barrier keeps passes from folding the value of one sample.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#include "mlir/IR/Builders.h"

namespace octavo {

/// Unit attribute of such a barrier.
inline constexpr llvm::StringLiteral kItemNumber = "item_number";

/// Whether `op` is a barrier with that attribute. `op` may be null.
inline bool isItemNumber(mlir::Operation* op) {
  return llvm::isa_and_present<stablehlo::OptimizationBarrierOp>(op) && op->hasAttr(kItemNumber);
}

/// Inserts such a barrier before the owner of `use` and makes `use` read the barrier's result.
inline void keepItemNumber(mlir::OpOperand& use) {
  mlir::OpBuilder builder(use.getOwner());
  auto barrier = stablehlo::OptimizationBarrierOp::create(
      builder, use.getOwner()->getLoc(), mlir::TypeRange(use.get().getType()), use.get());
  barrier->setAttr(kItemNumber, builder.getUnitAttr());
  use.set(barrier->getResult(0));
}

} // namespace octavo
