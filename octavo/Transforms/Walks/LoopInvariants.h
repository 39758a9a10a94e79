// Values that loops, branches and calls pass through unchanged.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "mlir/IR/Value.h"

namespace octavo::transforms {

/// Whether every iteration of `loop` passes carried value number `place` on unchanged, if need be
/// through calls, branches and inner loops. `program`, if given, resolves calls without a search.
bool isUnchanged(stablehlo::WhileOp loop, unsigned place, const ProgramCalls* program = nullptr);

/// Hoists a value, and the data movement behind it, out of all loops that carry it unchanged. These
/// loops, and the functions called in them, no longer carry it: their regions read the value before
/// the loop, and the movement is placed there. If the value comes from an argument of a private
/// function, the operands of its calls are hoisted likewise. Replaced calls are recorded in
/// `program`.
void takeFromBeforeLoops(mlir::Value value, ProgramCalls& program);

} // namespace octavo::transforms
