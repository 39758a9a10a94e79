// Linear algebra family: cholesky and triangular_solve.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/LinearAlgebra.h.inc"
