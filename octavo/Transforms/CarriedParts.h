// Loops that carry dequantized values, made to carry their codes and scales.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

namespace octavo::transforms {

/// Where a value that a loop carries is dequantized before it, and in each round is what it was or
/// is dequantized again, from codes of one format in one grid of blocks: carries these in its
/// place. The wide values, before and within and after, are octavo.dequantize of them. Gives the
/// loop, which is another operation where anything changed.
stablehlo::WhileOp carryParts(stablehlo::WhileOp loop);

} // namespace octavo::transforms
