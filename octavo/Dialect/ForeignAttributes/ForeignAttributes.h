// Attributes of MHLO (`#mhlo....`), which JAX leaves in its programs. They are kept, written
// exactly as they were read, and have no effect. Attributes of MLIR's own kinds under such names
// (`mhlo.num_partitions = 1`, `jax.result_info`) need no dialect. Operations of MHLO are refused by
// name.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace octavo {

void registerForeignAttributes(mlir::DialectRegistry& registry);

} // namespace octavo
