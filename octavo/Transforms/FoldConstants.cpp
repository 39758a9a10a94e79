#include "octavo/Transforms/ConstantEvaluation.h"
#include "octavo/Transforms/Passes.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "octavo/Transforms/Passes.h.inc"

namespace {

struct FoldConstants : impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;

  void runOnOperation() override {
    // In program order, so that what is folded is an operand of what follows. Operations within a
    // region that goes away with its own are not visited: those of a folded one are erased with it.
    getOperation().walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      if (!isFoldable(op, maxElements))
        return mlir::WalkResult::advance();
      const bool hasRegions = op->getNumRegions() != 0;
      foldConstants(op);
      return hasRegions ? mlir::WalkResult::skip() : mlir::WalkResult::advance();
    });
  }
};

} // namespace

} // namespace octavo::transforms
