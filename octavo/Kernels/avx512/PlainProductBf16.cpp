// Plain bf16 products with AVX512_BF16, apart from the AVX-512 set, as in ProductBf16.cpp: not
// every machine of the set has AVX512_BF16.
#define OCTAVO_KERNELS_ISA avx512bf16
#include "octavo/Kernels/avx512/ProductParts.h"

#include "octavo/Kernels/generic/PlainProduct.h"

#if !defined(__AVX512BF16__)
#error "this file is compiled with AVX512_BF16"
#endif

namespace octavo::kernels::avx512bf16 {

/// A dword is two bf16, whose products VDPBF16PS adds.
struct PlainBf16Pairs {
  static constexpr int kElements = 2, kParts = 1, kSums = kPlainSums;
  static constexpr std::int32_t kColumnOffset = 0;
  static OCTAVO_INLINE U32 column(U32 dwords) { return dwords; }
  template <int> static OCTAVO_INLINE F32 part(U32 dwords) { return floats(dwords); }
  static OCTAVO_INLINE F32 add(F32 sum, F32 b, F32 a) {
    return (F32)_mm512_dpbf16_ps((__m512)sum, (__m512bh)b, (__m512bh)a);
  }
};

extern const PlainKernels kPlainBf16;
const PlainKernels kPlainBf16 = plainTable<PlainBf16Pairs>();

} // namespace octavo::kernels::avx512bf16
