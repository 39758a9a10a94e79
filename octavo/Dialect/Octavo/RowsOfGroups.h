// The operation octavo.rows_of_groups: selects from a dot over all groups the rows of each group.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/Octavo/RowsOfGroups.h.inc"
