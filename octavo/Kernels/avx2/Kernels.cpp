#include "octavo/Kernels/avx2/Parts.h"

#include "octavo/Kernels/generic/Table.h"
