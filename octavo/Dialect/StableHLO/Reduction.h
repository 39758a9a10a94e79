// Reduction family: reduces many elements to one by a function of the program.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Reduction.h.inc"
