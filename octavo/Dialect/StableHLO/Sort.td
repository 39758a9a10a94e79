// Sort family: orders, and searches that follow from them.
#ifndef OCTAVO_DIALECT_STABLEHLO_SORT_TD
#define OCTAVO_DIALECT_STABLEHLO_SORT_TD

include "octavo/Dialect/StableHLO/Attributes.td"

#endif // OCTAVO_DIALECT_STABLEHLO_SORT_TD
