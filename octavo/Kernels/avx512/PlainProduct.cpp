#include "octavo/Kernels/avx512/ProductParts.h"

#include "octavo/Kernels/generic/PlainProduct.h"

namespace octavo::kernels::avx512 {

/// A dword is four int8, whose products VPDPBUSD adds, of unsigned and signed ones.
struct PlainInt8AtOnce {
  static constexpr int kElements = 4, kParts = 1, kSums = kPlainSums;
  static constexpr std::int32_t kColumnOffset = 128;
  static OCTAVO_INLINE U32 column(U32 dwords) { return dwords ^ 0x80808080; }
  template <int> static OCTAVO_INLINE F32 part(U32 dwords) { return floats(dwords); }
  static OCTAVO_INLINE F32 add(F32 sum, F32 b, F32 a) {
    return (F32)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)b, (__m512i)a);
  }
};

extern const PlainKernels kPlainF32;
const PlainKernels kPlainF32 = plainTable<PlainF32>();
extern const PlainKernels kPlainBf16;
const PlainKernels kPlainBf16 = plainTable<PlainBf16>();
extern const PlainKernels kPlainInt8;
const PlainKernels kPlainInt8 = plainTable<PlainInt8AtOnce>();

} // namespace octavo::kernels::avx512
