// Random family: random bits and numbers.
#ifndef OCTAVO_DIALECT_STABLEHLO_RANDOM_TD
#define OCTAVO_DIALECT_STABLEHLO_RANDOM_TD

include "octavo/Dialect/StableHLO/Attributes.td"

#endif // OCTAVO_DIALECT_STABLEHLO_RANDOM_TD
