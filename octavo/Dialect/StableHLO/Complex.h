// Complex family: complex numbers from their parts and back, Fourier transforms.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Complex.h.inc"
