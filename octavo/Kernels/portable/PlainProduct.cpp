#include "octavo/Kernels/portable/ProductParts.h"

#include "octavo/Kernels/generic/PlainProduct.h"

namespace octavo::kernels::portable {

extern const PlainKernels kPlainF32;
const PlainKernels kPlainF32 = plainTable<PlainF32>();
extern const PlainKernels kPlainBf16;
const PlainKernels kPlainBf16 = plainTable<PlainBf16>();
extern const PlainKernels kPlainInt8;
const PlainKernels kPlainInt8 = plainTable<PlainInt8>();

} // namespace octavo::kernels::portable
