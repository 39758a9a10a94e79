// Verifiers of the edges and barriers through which shardings propagate.
#include "octavo/Dialect/Sdy/Sharding.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace octavo::sdy {

using llvm::LogicalResult;

namespace {

/// (E1)
LogicalResult verifyOnlyUse(mlir::Operation* op) {
  return op->getOperand(0).hasOneUse()
             ? mlir::success()
             : op->emitOpError() << "(E1) needs an operand that nothing else uses";
}

} // namespace

LogicalResult DataFlowEdgeOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  if (getSharding() &&
      failed(verifySharding(*this, "the sharding", *getSharding(), getInput().getType())))
    return mlir::failure();
  if (failed(verifyOnlyUse(*this)))
    return mlir::failure();
  if (mlir::Operation* maker = getInput().getDefiningOp();
      maker && llvm::isa<SdyDialect>(maker->getDialect()) && !llvm::isa<NamedComputationOp>(maker))
    return emitOpError() << "(E2) needs an operand that no operation of sdy makes but "
                            "'sdy.named_computation'; found that of '"
                         << maker->getName() << "'";
  return mlir::success();
}

LogicalResult FuncDataFlowEdgeOp::verify() {
  if (failed(verifyOnlyUse(*this)))
    return mlir::failure();
  const auto argument = llvm::dyn_cast<mlir::BlockArgument>(getOperand());
  const bool fits =
      argument
          ? llvm::isa_and_present<mlir::FunctionOpInterface>(argument.getOwner()->getParentOp())
          : llvm::isa<mlir::CallOpInterface>(getOperand().getDefiningOp());
  return fits ? mlir::success()
              : emitOpError() << "(E2) needs an operand that is an argument of a function or a "
                                 "result of a call";
}

LogicalResult PropagationBarrierOp::verify() {
  if (getAllowedDirection() == PropagationDirection::BOTH)
    return emitOpError() << "allows both directions, so that it would do nothing";
  return mlir::success();
}

} // namespace octavo::sdy
