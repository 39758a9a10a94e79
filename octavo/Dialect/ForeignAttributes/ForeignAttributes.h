// Attributes that JAX leaves in its programs for other readers: MHLO's (`#mhlo....`). They are kept
// and written again exactly as they were, and mean nothing here. Attributes of MLIR's own kinds
// under such names (`mhlo.num_partitions = 1`, `jax.result_info`) need no dialect. Operations of
// the dialect are refused by name.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace octavo {

void registerForeignAttributes(mlir::DialectRegistry& registry);

} // namespace octavo
