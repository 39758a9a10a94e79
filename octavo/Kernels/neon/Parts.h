// The parts of the Arm set: registers of 16 bytes, look-ups in tables of 64 bytes.
#pragma once

#if !defined(__ARM_NEON) || !defined(__aarch64__)
#error "this file is compiled for aarch64"
#endif

#define OCTAVO_KERNELS_ISA neon
#define OCTAVO_KERNELS_VECTOR_BYTES 16
#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/generic/FastFloat.h"

#include <arm_neon.h>

namespace octavo::kernels::neon {

inline constexpr Isa kIsa = Isa::Neon;
inline constexpr bool kHasMultiplyAdd = true;
inline constexpr bool kHasLookup = false;

OCTAVO_INLINE U8 narrow(const U32 (&x)[4]) {
  const uint16x8_t low = vuzp1q_u16((uint16x8_t)x[0], (uint16x8_t)x[1]);
  const uint16x8_t high = vuzp1q_u16((uint16x8_t)x[2], (uint16x8_t)x[3]);
  return (U8)vuzp1q_u8((uint8x16_t)low, (uint8x16_t)high);
}
OCTAVO_INLINE U16 upperHalves(F32 a, F32 b) {
  return (U16)vuzp2q_u16((uint16x8_t)a, (uint16x8_t)b);
}
OCTAVO_INLINE U8 narrowWords(U16 a, U16 b) { return (U8)vuzp1q_u8((uint8x16_t)a, (uint8x16_t)b); }
OCTAVO_INLINE void widenBytes(const std::uint8_t* from, U16 (&words)[2]) {
  widenBytesGeneric(from, words);
}
OCTAVO_INLINE U32 loadTriples(const std::uint8_t* from) { return loadTriplesGeneric(from); }
OCTAVO_INLINE void storeTriples(std::uint8_t* to, U32 x) { storeTriplesGeneric(to, x); }
OCTAVO_INLINE bool anySet(U32 mask) { return vmaxvq_u32((uint32x4_t)mask) != 0; }
OCTAVO_INLINE F32 multiplyAdd(F32 a, F32 b, F32 c) {
  return (F32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
OCTAVO_INLINE bool anyNan(const U32 (&x)[4]) {
  U32 greatest = x[0] & kAbs;
  for (int i = 1; i < 4; ++i)
    greatest = maximum(greatest, x[i] & kAbs);
  return vmaxvq_u32((uint32x4_t)greatest) > kInfinity;
}
OCTAVO_INLINE void finishStreaming() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

using FastFloat = FastFloatGeneric;
using E2M1ByTable = NoE2M1ByTable;

} // namespace octavo::kernels::neon

#include "octavo/Kernels/generic/Decode.h"

namespace octavo::kernels::neon {

/// Any format: the low and the high byte of each code's bf16 come from four tables of 64 bytes; an
/// index beyond a table leaves what the one before has found.
struct DecodeByBytes {
  uint8x16x4_t low[4], high[4];

  explicit OCTAVO_INLINE DecodeByBytes(const DecodePlan& plan) {
    for (int i = 0; i < 4; ++i) {
      low[i] = vld1q_u8_x4(plan.low + 64 * i);
      high[i] = vld1q_u8_x4(plan.high + 64 * i);
    }
  }
  static OCTAVO_INLINE uint8x16_t lookUp(const uint8x16x4_t (&table)[4], uint8x16_t codes) {
    uint8x16_t found = vqtbl4q_u8(table[0], codes);
    for (int i = 1; i < 4; ++i)
      found = vqtbx4q_u8(found, table[i], vsubq_u8(codes, vdupq_n_u8(64 * i)));
    return found;
  }
  OCTAVO_INLINE void operator()(const std::uint8_t* from, F32 (&x)[4]) const {
    const uint8x16_t codes = vld1q_u8(from);
    const uint8x16_t lows = lookUp(low, codes), highs = lookUp(high, codes);
    const uint16x8_t halves[2] = {(uint16x8_t)vzip1q_u8(lows, highs),
                                  (uint16x8_t)vzip2q_u8(lows, highs)};
    const uint16x8_t zero = vdupq_n_u16(0);
    for (int i = 0; i < 2; ++i) {
      x[2 * i] = (F32)vzip1q_u16(zero, halves[i]);
      x[2 * i + 1] = (F32)vzip2q_u16(zero, halves[i]);
    }
  }
};

template <typename Use> OCTAVO_INLINE void withDecodeStep(const DecodePlan& plan, Use use) {
  use(DecodeByBytes(plan));
}

} // namespace octavo::kernels::neon
