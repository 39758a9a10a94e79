// octavo.rows_of_groups.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/Octavo/RowsOfGroups.h.inc"
