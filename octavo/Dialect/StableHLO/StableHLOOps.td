// All operations of StableHLO that octavo has, by family.
#ifndef OCTAVO_DIALECT_STABLEHLO_OPS_TD
#define OCTAVO_DIALECT_STABLEHLO_OPS_TD

include "octavo/Dialect/StableHLO/Channels.td"
include "octavo/Dialect/StableHLO/Collectives.td"
include "octavo/Dialect/StableHLO/Complex.td"
include "octavo/Dialect/StableHLO/Contraction.td"
include "octavo/Dialect/StableHLO/ControlFlow.td"
include "octavo/Dialect/StableHLO/DataMovement.td"
include "octavo/Dialect/StableHLO/Dynamic.td"
include "octavo/Dialect/StableHLO/Elementwise.td"
include "octavo/Dialect/StableHLO/Indexing.td"
include "octavo/Dialect/StableHLO/LinearAlgebra.td"
include "octavo/Dialect/StableHLO/Quantized.td"
include "octavo/Dialect/StableHLO/Random.td"
include "octavo/Dialect/StableHLO/Reduction.td"
include "octavo/Dialect/StableHLO/Sort.td"
include "octavo/Dialect/StableHLO/Windows.td"

#endif // OCTAVO_DIALECT_STABLEHLO_OPS_TD
