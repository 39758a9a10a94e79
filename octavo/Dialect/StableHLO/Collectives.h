// Collectives family: what the processes of a grid of replicas and partitions do together, and who
// a process is in its grid.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Collectives.h.inc"
