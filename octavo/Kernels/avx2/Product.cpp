#include "octavo/Kernels/avx2/ProductParts.h"

#include "octavo/Kernels/generic/ProductTable.h"

namespace octavo::kernels::avx2 {

extern const ProductKernels kProducts;
const ProductKernels kProducts = integerKernels();

} // namespace octavo::kernels::avx2
