#include "octavo/Kernels/avx512/Parts.h"

#include "octavo/Kernels/generic/Table.h"
