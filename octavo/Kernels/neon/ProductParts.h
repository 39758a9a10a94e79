// The parts of products of the Arm set: products of 16 bits summed pairwise in 32, look-ups in
// tables of 64 bytes. Plain Advanced SIMD: SDOT and the byte products of I8MM are not used.
#pragma once

#if !defined(__ARM_NEON) || !defined(__aarch64__)
#error "this file is compiled for aarch64"
#endif

#define OCTAVO_KERNELS_ISA neon
#define OCTAVO_KERNELS_VECTOR_BYTES 16
#include "octavo/Kernels/Product/ProductKernels.h"
#include "octavo/Kernels/generic/Pick.h"
#include "octavo/Kernels/generic/Vector.h"

#include <arm_neon.h>

namespace octavo::kernels::neon {

inline constexpr Isa kProductIsa = Isa::Neon;
/// 16 sums and 4 columns of 32 registers leave room for what a product goes through.
inline constexpr int kTallest = 4;
/// 24 sums, 4 columns and a row.
inline constexpr int kFloatTallest = 6;
inline constexpr int kPanelsOfTile = 1;
/// Of 32 registers, beside 4 columns and a row.
inline constexpr int kPlainRows = 6, kPlainSums = 24;
inline constexpr bool kSumsInRegisters = false;
inline constexpr bool kSumsBytesIn16 = false;

template <typename V> OCTAVO_INLINE void pin(V&) {}
OCTAVO_INLINE void pinScale(U32&) {}

OCTAVO_INLINE U8 broadcast(const std::byte* from) {
  std::uint32_t word;
  __builtin_memcpy(&word, from, 4);
  return (U8)vdupq_n_u32(word);
}

struct WordsDot {
  using Sum = I32;
  static constexpr int kDepth = 2, kAtOnce = 1;
  static OCTAVO_INLINE U8 row(const std::byte* from) { return broadcast(from); }
  static OCTAVO_INLINE Sum begin(std::uint32_t) { return Sum{}; }
  static OCTAVO_INLINE void step(Sum& sum, const U8 (&column)[1], const U8 (&row)[1]) {
    const int16x8_t a = (int16x8_t)column[0], b = (int16x8_t)row[0];
    sum += (I32)vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
  }
  static OCTAVO_INLINE I32 end(Sum sum, U32) { return sum; }
};

/// Unsigned times signed bytes. Sums do not saturate, so that they start from the correction.
struct BytesDot {
  using Sum = I32;
  static constexpr int kDepth = 4, kAtOnce = 1;
  static OCTAVO_INLINE U8 row(const std::byte* from) { return broadcast(from); }
  static OCTAVO_INLINE Sum begin(std::uint32_t correction) { return (I32)splat(correction); }
  static OCTAVO_INLINE void step(Sum& sum, const U8 (&column)[1], const U8 (&row)[1]) {
    const auto a = (uint8x16_t)column[0];
    const auto b = (int8x16_t)row[0];
    const auto low = (int16x8_t)vmovl_u8(vget_low_u8(a)), high = (int16x8_t)vmovl_high_u8(a);
    const int16x8_t lowRow = vmovl_s8(vget_low_s8(b)), highRow = vmovl_high_s8(b);
    const int32x4_t first =
        vpaddq_s32(vmull_s16(vget_low_s16(low), vget_low_s16(lowRow)), vmull_high_s16(low, lowRow));
    const int32x4_t second = vpaddq_s32(vmull_s16(vget_low_s16(high), vget_low_s16(highRow)),
                                        vmull_high_s16(high, highRow));
    sum += (I32)vpaddq_s32(first, second);
  }
  static OCTAVO_INLINE I32 end(Sum sum, U32) { return sum; }
  /// 256 times a sum that began from 0.
  static OCTAVO_INLINE U32 end256(Sum sum) { return (U32)sum << 8; }
};
using BytesWrappedDot = BytesDot;
using BytesInPairsDot = BytesDot;

/// The entries of 64 that 16 codes name.
struct CodeTable {
  int8x16x4_t table;
  explicit OCTAVO_INLINE CodeTable(const std::int8_t* entries) {
    for (int i = 0; i < 4; ++i)
      table.val[i] = vld1q_s8(entries + 16 * i);
  }
  OCTAVO_INLINE int8x16_t operator()(VectorOf<std::uint8_t, 16> codes) const {
    return vqtbl4q_s8(table, (uint8x16_t)codes);
  }
};

/// E2M1 codes to twice their value plus 12.
struct NibbleTable {
  uint8x16_t table = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};
  OCTAVO_INLINE U8 low(U8 codes) const { return (U8)vqtbl1q_u8(table, (uint8x16_t)(codes & 15)); }
  OCTAVO_INLINE U8 high(U8 codes) const { return (U8)vqtbl1q_u8(table, (uint8x16_t)(codes >> 4)); }
};

OCTAVO_INLINE F32 halvesToFloats(VectorOf<std::int16_t, kLanes> halves) {
  return (F32)vcvt_f32_f16((float16x4_t)halves);
}
OCTAVO_INLINE F32 multiplyAdd(F32 sum, F32 b, F32 a) {
  return (F32)vfmaq_f32((float32x4_t)sum, (float32x4_t)b, (float32x4_t)a);
}

} // namespace octavo::kernels::neon
