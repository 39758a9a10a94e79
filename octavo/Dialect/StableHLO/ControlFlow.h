// Control flow family: calls, tuples, and what orders operations.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/ControlFlow.h.inc"
