// Channels family: send and recv between processes, infeed and outfeed between host and program.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Channels.h.inc"
