// The operation octavo.rows_of_groups: selects, from a dot of all rows with the matrices of all
// groups, the values of each row's own group.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/Octavo/RowsOfGroups.h.inc"
