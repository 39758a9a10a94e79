#include "octavo/Transforms/ConstantEvaluation.h"
#include "octavo/Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "octavo/Transforms/Passes.h.inc"

namespace {

struct FoldConstants : impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;

  void runOnOperation() override { foldWithin(getOperation()); }

private:
  bool fold(mlir::Operation* op) const { return isFoldable(op, maxElements) && foldConstants(op); }

  /// Folds in program order, so that what is folded is an operand of what follows. An operation
  /// that cannot be evaluated, because its regions take constants from around it, is tried again
  /// when something in them is folded. Gives whether anything is.
  bool foldWithin(mlir::Operation* op) const {
    bool hasFolded = false;
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region)
        for (mlir::Operation& inner : llvm::make_early_inc_range(block))
          hasFolded |= fold(&inner) || (foldWithin(&inner) && (fold(&inner), true));
    return hasFolded;
  }
};

} // namespace

} // namespace octavo::transforms
