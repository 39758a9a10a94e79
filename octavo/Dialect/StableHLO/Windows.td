// Windows family: convolutions, and reductions over windows that move.
#ifndef OCTAVO_DIALECT_STABLEHLO_WINDOWS_TD
#define OCTAVO_DIALECT_STABLEHLO_WINDOWS_TD

include "octavo/Dialect/StableHLO/Attributes.td"

#endif // OCTAVO_DIALECT_STABLEHLO_WINDOWS_TD
