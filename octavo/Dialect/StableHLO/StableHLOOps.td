// Every operation of StableHLO that octavo has, by family.
#ifndef OCTAVO_DIALECT_STABLEHLO_OPS_TD
#define OCTAVO_DIALECT_STABLEHLO_OPS_TD

include "octavo/Dialect/StableHLO/Contraction.td"
include "octavo/Dialect/StableHLO/ControlFlow.td"
include "octavo/Dialect/StableHLO/DataMovement.td"
include "octavo/Dialect/StableHLO/Elementwise.td"
include "octavo/Dialect/StableHLO/Indexing.td"
include "octavo/Dialect/StableHLO/Reduction.td"

#endif // OCTAVO_DIALECT_STABLEHLO_OPS_TD
