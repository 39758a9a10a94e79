#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_LEGALIZECOMPOSITES
#include "octavo/Transforms/Passes.h.inc"

namespace {

struct LegalizeComposites : impl::LegalizeCompositesBase<LegalizeComposites> {
  using LegalizeCompositesBase::LegalizeCompositesBase;

  void runOnOperation() override {
    getOperation().walk([&](stablehlo::CompositeOp op) {
      if (llvm::is_contained(keep, op.getName().str()))
        return;
      mlir::OpBuilder builder(op);
      auto call = mlir::func::CallOp::create(builder, op.getLoc(), op.getDecomposition(),
                                             op.getResultTypes(), op.getInputs());
      op.replaceAllUsesWith(call.getResults());
      op.erase();
    });
  }
};

} // namespace

} // namespace octavo::transforms
