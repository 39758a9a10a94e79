// Quantized family: between numbers and the integers that stand for them.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Quantized.h.inc"
