// Scatters whose result XLA and StableHLO's specification disagree on.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace octavo::transforms {

/// At most one line of warning: how many scatters of the module may write update windows that lie
/// partly outside the input, and where the first is. octavo writes the elements that are inside, as
/// the specification says (rule I19); XLA leaves the whole window out. Scatters whose indices are
/// constants within the bounds, or clamped as JAX clamps them, are not counted.
std::vector<std::string> scattersPartlyOutside(mlir::ModuleOp module);

} // namespace octavo::transforms
