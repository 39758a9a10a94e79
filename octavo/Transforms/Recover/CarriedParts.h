// Makes loops and branches carry codes and scales instead of dequantized values.
#pragma once

#include "mlir/IR/Region.h"

namespace octavo::transforms {

/// Rewrites the loops and branches in `region`, nested ones too:
/// - A loop carries codes and scales in place of a value that is dequantized before the loop. In
///   each iteration the value must be unchanged, or dequantized again from codes of the same format
///   and block shape.
/// - An `if` or `case` whose branches all return such values returns codes and scales.
/// The wide values become octavo.dequantize of these.
void carryParts(mlir::Region& region);

} // namespace octavo::transforms
