// Channels family: what a process sends to another, and what goes in from the host and out to it.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Channels.h.inc"
