// Control flow family: calls, branches, loops, tuples, and tokens that order operations.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/ControlFlow.h.inc"
