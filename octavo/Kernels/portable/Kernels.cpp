#include "octavo/Kernels/portable/Parts.h"

#include "octavo/Kernels/generic/Table.h"
