// Dynamic family: operations that take shapes, sizes and paddings as operands.
#ifndef OCTAVO_DIALECT_STABLEHLO_DYNAMIC_TD
#define OCTAVO_DIALECT_STABLEHLO_DYNAMIC_TD

include "octavo/Dialect/StableHLO/Attributes.td"

#endif // OCTAVO_DIALECT_STABLEHLO_DYNAMIC_TD
