// The pass octavo-recover-scaled: remarks for recovered dots, warnings for missed ones.
#include "octavo/Transforms/Passes.h"
#include "octavo/Transforms/Recover/RecoverScaled.h"

#include "mlir/IR/Diagnostics.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_RECOVERSCALED
#include "octavo/Transforms/Passes.h.inc"

namespace {

struct RecoverScaled : impl::RecoverScaledBase<RecoverScaled> {
  using RecoverScaledBase::RecoverScaledBase;

  void runOnOperation() override {
    const RecoverReport report = recoverScaled(getOperation());
    for (const RecoveredDot& dot : report.dots) {
      if (dot.width == DotWidth::Narrow)
        mlir::emitRemark(dot.location) << dot.name << " multiplies " << dot.lhs << " x " << dot.rhs
                                       << (dot.note.empty() ? "" : "; it has ") << dot.note;
      if (dot.width != DotWidth::Missed && !dot.isOneSided())
        continue;
      auto told = failOnMissed ? mlir::emitError(dot.location) : mlir::emitWarning(dot.location);
      told << dot.name << " multiplies wide values" << (dot.isOneSided() ? " on one side" : "")
           << ", though narrow ones are behind them: '" << dot.obstacle << "' at " << dot.place
           << " " << dot.reason << "; " << dot.remedy;
    }
    if (failOnMissed && report.count(DotWidth::Missed) + report.countOneSided() > 0)
      signalPassFailure();
  }
};

} // namespace

} // namespace octavo::transforms
