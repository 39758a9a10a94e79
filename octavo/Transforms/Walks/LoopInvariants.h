// Values that loops, branches and calls hand on as they are.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "mlir/IR/Value.h"

namespace octavo::transforms {

/// Whether each round of a loop hands on what it was given at a place, through calls, branches and
/// loops within, too.
bool isUnchanged(stablehlo::WhileOp loop, unsigned place, const ProgramCalls* program = nullptr);

/// Has a value that is moved about at most be what it is before all loops that carry it unchanged:
/// these, and what is called within, no longer carry it, the regions read what is before the loop,
/// and what moves it stands there. Where the value is an argument of a private function, so for
/// what its calls give. `program` knows the calls that come in the place of others.
void takeFromBeforeLoops(mlir::Value value, ProgramCalls& program);

} // namespace octavo::transforms
