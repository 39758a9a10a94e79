// A number that a program computes from the number of its items and takes for more than a shape. It
// stands behind a barrier, so that nothing is folded by what it is for one number of items.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#include "mlir/IR/Builders.h"

namespace octavo {

inline constexpr llvm::StringLiteral kItemNumber = "item_number";

inline bool isItemNumber(mlir::Operation* op) {
  return llvm::isa_and_present<stablehlo::OptimizationBarrierOp>(op) && op->hasAttr(kItemNumber);
}

/// Has the use take the number from behind a barrier.
inline void keepItemNumber(mlir::OpOperand& use) {
  mlir::OpBuilder builder(use.getOwner());
  auto barrier = stablehlo::OptimizationBarrierOp::create(
      builder, use.getOwner()->getLoc(), mlir::TypeRange(use.get().getType()), use.get());
  barrier->setAttr(kItemNumber, builder.getUnitAttr());
  use.set(barrier->getResult(0));
}

} // namespace octavo
