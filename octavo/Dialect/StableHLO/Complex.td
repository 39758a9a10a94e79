// Complex family: complex numbers from their parts and back, Fourier transforms.
#ifndef OCTAVO_DIALECT_STABLEHLO_COMPLEX_TD
#define OCTAVO_DIALECT_STABLEHLO_COMPLEX_TD

include "octavo/Dialect/StableHLO/Attributes.td"

#endif // OCTAVO_DIALECT_STABLEHLO_COMPLEX_TD
