#include "octavo/Transforms/FunctionCalls.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace octavo::transforms {

llvm::SmallVector<mlir::func::CallOp> callsOf(mlir::func::FuncOp function) {
  llvm::SmallVector<mlir::func::CallOp> calls;
  const auto uses = mlir::SymbolTable::getSymbolUses(function.getOperation(),
                                                     function->getParentOfType<mlir::ModuleOp>());
  if (!function.isPrivate() || !uses)
    return {};
  for (const mlir::SymbolTable::SymbolUse& use : *uses) {
    auto call = llvm::dyn_cast<mlir::func::CallOp>(use.getUser());
    if (!call)
      return {};
    calls.push_back(call);
  }
  return calls;
}

} // namespace octavo::transforms
