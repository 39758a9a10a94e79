#include "octavo/Transforms/ConstantEvaluation.h"
#include "octavo/Transforms/Passes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "octavo/Transforms/Passes.h.inc"

namespace {

/// Whether `op` is a function that compiled code approximates itself (rule C2), so that the last
/// bit may differ from the interpreter's.
bool isApproximated(mlir::Operation* op) {
  static const llvm::StringSet<> kFunctions = {"chlo.acos",
                                               "chlo.acosh",
                                               "chlo.asin",
                                               "chlo.asinh",
                                               "chlo.atan",
                                               "chlo.atanh",
                                               "chlo.cosh",
                                               "chlo.erf",
                                               "chlo.erfc",
                                               "chlo.sinh",
                                               "chlo.tan",
                                               "stablehlo.atan2",
                                               "stablehlo.cbrt",
                                               "stablehlo.cosine",
                                               "stablehlo.exponential",
                                               "stablehlo.exponential_minus_one",
                                               "stablehlo.log",
                                               "stablehlo.log_plus_one",
                                               "stablehlo.logistic",
                                               "stablehlo.power",
                                               "stablehlo.sine",
                                               "stablehlo.tan",
                                               "stablehlo.tanh"};
  return kFunctions.contains(op->getName().getStringRef()) &&
         llvm::any_of(op->getResultTypes(), [](mlir::Type type) {
           return llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(type));
         });
}

struct FoldConstants : impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;

  void runOnOperation() override { foldWithin(getOperation()); }

private:
  bool fold(mlir::Operation* op) const {
    const auto holdsApproximated = [&] {
      return op
          ->walk([](mlir::Operation* each) {
            return isApproximated(each) ? mlir::WalkResult::interrupt()
                                        : mlir::WalkResult::advance();
          })
          .wasInterrupted();
    };
    return isFoldable(op, maxElements) && !holdsApproximated() && foldConstants(op);
  }

  /// Folds in program order, so that results are operands of what follows. An operation whose
  /// regions use constants from outside cannot be evaluated; it is tried again after folding within
  /// its regions. Returns whether anything was folded.
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
