#include "octavo/Compiler/Plan/CutViews.h"

#include "octavo/Compiler/Kernels/Kernel.h"
#include "octavo/Compiler/Kernels/Views.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace octavo::compiler {

void cutViews(mlir::ModuleOp module) {
  llvm::DenseMap<mlir::Value, int> views; // how many in a row end with this view
  module.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (!isView(op) || !isInlined(op))
      return;
    mlir::Value view = op->getResult(0);
    const int inARow = views.lookup(op->getOperand(0)) + 1;
    if (inARow < kMostViews) {
      views[view] = inARow;
      return;
    }
    mlir::OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto copy = stablehlo::ConvertOp::create(builder, op->getLoc(), view.getType(), view);
    if (isKernelMember(copy))
      view.replaceAllUsesExcept(copy.getResult(), copy);
    else
      copy.erase();
  });
}

} // namespace octavo::compiler
