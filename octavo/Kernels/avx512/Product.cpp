#include "octavo/Kernels/avx512/ProductParts.h"

#include "octavo/Kernels/generic/ProductFloat.h"
#include "octavo/Kernels/generic/ProductTable.h"

namespace octavo::kernels::avx512 {

extern const ProductKernels kProducts;
const ProductKernels kProducts = integerKernels();
extern const FloatKernels kFloatProducts;
const FloatKernels kFloatProducts =
    floatTable<MultiplyAdd<HalfDecode>>(kProductIsa, FloatDot::MultiplyAdds, kPanelsOfTile);

} // namespace octavo::kernels::avx512
