// Collectives family: operations in which the processes of a grid of replicas and partitions take
// part together, and those that give a process its ids.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Collectives.h.inc"
