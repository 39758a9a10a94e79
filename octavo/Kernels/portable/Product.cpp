#include "octavo/Kernels/portable/ProductParts.h"

#include "octavo/Kernels/generic/ProductFloat.h"
#include "octavo/Kernels/generic/ProductTable.h"

namespace octavo::kernels::portable {

extern const ProductKernels kProducts;
const ProductKernels kProducts = integerKernels();
extern const FloatKernels kFloatProducts;
const FloatKernels kFloatProducts =
    floatTable<MultiplyAdd<FloatDecode>>(kProductIsa, FloatDot::MultiplyAdds, kPanelsOfTile);

} // namespace octavo::kernels::portable
