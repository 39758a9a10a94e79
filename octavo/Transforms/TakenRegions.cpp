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

} // namespace octavo::transforms
