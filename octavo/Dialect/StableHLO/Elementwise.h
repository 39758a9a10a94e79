// Elementwise family: each element of the result is computed from the elements at the same index.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Elementwise.h.inc"
