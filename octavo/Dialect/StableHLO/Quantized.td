// Quantized family: between numbers and the integers that stand for them.
#ifndef OCTAVO_DIALECT_STABLEHLO_QUANTIZED_TD
#define OCTAVO_DIALECT_STABLEHLO_QUANTIZED_TD

include "octavo/Dialect/StableHLO/Attributes.td"

#endif // OCTAVO_DIALECT_STABLEHLO_QUANTIZED_TD
