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

void handOn(mlir::Block& block, mlir::Value next) {
  mlir::Operation* end = block.getTerminator();
  end->insertOperands(end->getNumOperands(), next);
}

void extend(mlir::func::FuncOp function, mlir::Type type,
            llvm::function_ref<mlir::Value(mlir::Block&, mlir::Value)> through) {
  const unsigned index = function.getNumArguments();
  static_cast<void>(function.insertArgument(index, type, {}, function.getLoc()));
  mlir::Block& body = function.getBody().front();
  handOn(body, through(body, function.getArgument(index)));
  static_cast<void>(function.insertResult(function.getNumResults(), type, {}));
}

} // namespace octavo::transforms
