#include "octavo/Kernels/portable/ProductParts.h"

#include "octavo/Kernels/generic/ProductTable.h"

namespace octavo::kernels::portable {

extern const ProductKernels kProducts;
const ProductKernels kProducts = integerKernels();

} // namespace octavo::kernels::portable
