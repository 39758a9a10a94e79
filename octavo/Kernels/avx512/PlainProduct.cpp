#include "octavo/Kernels/avx512/ProductParts.h"

#include "octavo/Kernels/generic/PlainProduct.h"

namespace octavo::kernels::avx512 {

extern const PlainKernels kPlainF32;
const PlainKernels kPlainF32 = plainTable<PlainF32>();
extern const PlainKernels kPlainBf16;
const PlainKernels kPlainBf16 = plainTable<PlainBf16>();

} // namespace octavo::kernels::avx512
