// Linear algebra family: factors of matrices, and systems that they solve.
#ifndef OCTAVO_DIALECT_STABLEHLO_LINEARALGEBRA_TD
#define OCTAVO_DIALECT_STABLEHLO_LINEARALGEBRA_TD

include "octavo/Dialect/StableHLO/Attributes.td"

#endif // OCTAVO_DIALECT_STABLEHLO_LINEARALGEBRA_TD
