// Dynamic family: operations that take shapes, sizes and paddings as operands.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Dynamic.h.inc"
