// Loops and branches of dequantized values, made ones of codes and scales.
#pragma once

#include "mlir/IR/Region.h"

namespace octavo::transforms {

/// Where a value that a loop within carries is dequantized before it, and in each round is what it
/// was or is dequantized again, from codes of one format in one grid of blocks, the loop carries
/// these in its place; where all branches of an `if` or a `case` give such values, they give codes
/// and scales. The wide values, before and within and after, are octavo.dequantize of them. Of
/// loops and branches within one another, too.
void carryParts(mlir::Region& region);

} // namespace octavo::transforms
