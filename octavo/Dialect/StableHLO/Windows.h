// Windows family: convolutions, and reductions over sliding windows.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Windows.h.inc"
