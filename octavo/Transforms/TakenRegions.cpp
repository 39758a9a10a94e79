#include "octavo/Transforms/TakenRegions.h"

#include "mlir/IR/Builders.h"

namespace octavo::transforms {

mlir::Operation* takeRegions(mlir::Operation* op, mlir::ValueRange operands,
                             mlir::TypeRange types) {
  mlir::OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
  for (mlir::Region& region : op->getRegions())
    state.addRegion()->takeBody(region);
  return mlir::OpBuilder(op).create(state);
}

mlir::Operation* extended(mlir::Operation* op, mlir::ValueRange operands, mlir::TypeRange results) {
  llvm::SmallVector<mlir::Value> given(op->getOperands());
  llvm::append_range(given, operands);
  llvm::SmallVector<mlir::Type> types(op->getResultTypes());
  llvm::append_range(types, results);
  mlir::Operation* made = takeRegions(op, given, types);
  op->replaceAllUsesWith(made->getResults().drop_back(results.size()));
  op->erase();
  return made;
}

} // namespace octavo::transforms
