#include "octavo/Kernels/neon/Parts.h"

#include "octavo/Kernels/generic/Table.h"
