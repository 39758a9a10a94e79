#include "octavo/Dialect/WrappedCall.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo {

static mlir::func::FuncOp calledBy(mlir::func::CallOp call) {
  return mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(call, call.getCalleeAttr());
}

mlir::func::CallOp callAtEnd(mlir::func::FuncOp function) {
  if (!function.isPublic() || function.isExternal() ||
      !llvm::hasSingleElement(function.getBody()) || function.front().empty())
    return {};
  mlir::Operation& end = function.front().back();
  auto call = end.getNumOperands() == 0 ? mlir::func::CallOp()
                                        : end.getOperand(0).getDefiningOp<mlir::func::CallOp>();
  const bool isAtEnd = call && call->getBlock() == &function.front() &&
                       llvm::equal(call.getResults(), end.getOperands());
  return isAtEnd ? call : mlir::func::CallOp();
}

mlir::func::CallOp wrappedCall(mlir::func::FuncOp function) {
  mlir::func::CallOp call = callAtEnd(function);
  mlir::func::FuncOp callee = call ? calledBy(call) : mlir::func::FuncOp();
  if (!callee || !callee.isPrivate() || callee.isExternal())
    return {};
  const auto uses = mlir::SymbolTable::getSymbolUses(callee.getOperation(),
                                                     function->getParentOfType<mlir::ModuleOp>());
  return uses && llvm::hasSingleElement(*uses) ? call : mlir::func::CallOp();
}

mlir::Location locationOfArgument(mlir::func::FuncOp function, unsigned index) {
  const mlir::BlockArgument argument = function.getArgument(index);
  if (!llvm::isa<mlir::UnknownLoc>(argument.getLoc()))
    return argument.getLoc();
  if (mlir::func::CallOp call = wrappedCall(function))
    for (auto [operand, taken] : llvm::zip_equal(call.getOperands(), calledBy(call).getArguments()))
      if (operand == argument)
        return taken.getLoc();
  return argument.getLoc();
}

} // namespace octavo
