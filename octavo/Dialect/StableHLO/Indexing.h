// Indexing family: operations whose indices are data.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Indexing.h.inc"
