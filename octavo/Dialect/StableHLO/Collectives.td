// Collectives family: collectives, channels, and who a process is in its grid.
#ifndef OCTAVO_DIALECT_STABLEHLO_COLLECTIVES_TD
#define OCTAVO_DIALECT_STABLEHLO_COLLECTIVES_TD

include "octavo/Dialect/StableHLO/Attributes.td"

#endif // OCTAVO_DIALECT_STABLEHLO_COLLECTIVES_TD
