#include "octavo/Kernels/avx512/ProductParts.h"

#include "octavo/Kernels/generic/ProductTable.h"

namespace octavo::kernels::avx512 {

extern const ProductKernels kProducts;
const ProductKernels kProducts = integerKernels();

} // namespace octavo::kernels::avx512
