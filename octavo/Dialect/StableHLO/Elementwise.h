// Elementwise family: each element of the result from the elements at the same place.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Elementwise.h.inc"
