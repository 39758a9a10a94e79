#include "octavo/Transforms/ConstantEvaluation.h"
#include "octavo/Transforms/Passes.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "octavo/Transforms/Passes.h.inc"

namespace {

struct FoldConstants : impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;

  void runOnOperation() override {
    // In program order, so that what is folded is an operand of what follows. One that is folded is
    // erased, with what is in its regions.
    getOperation().walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      return isFoldable(op, maxElements) && foldConstants(op) ? mlir::WalkResult::skip()
                                                              : mlir::WalkResult::advance();
    });
  }
};

} // namespace

} // namespace octavo::transforms
