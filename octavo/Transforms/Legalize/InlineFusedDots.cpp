#include "octavo/Transforms/Legalize/InlineFusedDots.h"

#include "octavo/Transforms/Passes.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_INLINEFUSEDDOTS
#include "octavo/Transforms/Passes.h.inc"

void inlineFusedDots(mlir::Operation* root) {
  root->walk([](ir::FusedDotOp fused) {
    mlir::Block& body = fused.getBody().front();
    for (auto [argument, input] : llvm::zip_equal(body.getArguments(), fused.getInputs()))
      argument.replaceAllUsesWith(input);
    mlir::Operation* end = body.getTerminator();
    fused.replaceAllUsesWith(end->getOperands());
    end->erase();
    fused->getBlock()->getOperations().splice(fused->getIterator(), body.getOperations());
    fused.erase();
  });
}

namespace {

struct InlineFusedDots : impl::InlineFusedDotsBase<InlineFusedDots> {
  void runOnOperation() override { inlineFusedDots(getOperation()); }
};

} // namespace

} // namespace octavo::transforms
