// Data movement family: elements to other places, and tensors from nothing.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/DataMovement.h.inc"
