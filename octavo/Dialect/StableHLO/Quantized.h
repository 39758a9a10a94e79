// Quantized family: conversions between numbers and quantized integers.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Quantized.h.inc"
