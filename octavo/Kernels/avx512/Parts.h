// The parts of the AVX-512 set: registers of 64 bytes, byte permutations of two registers (VBMI),
// sums of products of 16 bits (VNNI).
#pragma once

#if !defined(__AVX512F__) || !defined(__AVX512VBMI__) || !defined(__AVX512VNNI__)
#error "this file is compiled with the flags of the set"
#endif

#define OCTAVO_KERNELS_ISA avx512
#define OCTAVO_KERNELS_VECTOR_BYTES 64
#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/generic/FastFloat.h"

#include <immintrin.h>

namespace octavo::kernels::avx512 {

inline constexpr Isa kIsa = Isa::Avx512;
inline constexpr bool kHasMultiplyAdd = true;
inline constexpr bool kHasLookup = true;

/// Indices 0 * kStride + kOffset, 1 * kStride + kOffset, ... of a permutation, starting again after
/// kPeriod of them.
template <typename T, int kStride, int kOffset, int kPeriod> struct Indices {
  alignas(64) T index[64 / sizeof(T)];
  constexpr Indices() : index{} {
    for (int i = 0; i < 64 / static_cast<int>(sizeof(T)); ++i)
      index[i] = static_cast<T>(i % kPeriod * kStride + kOffset);
  }
};
template <typename T, int kStride, int kOffset, int kPeriod>
inline constexpr Indices<T, kStride, kOffset, kPeriod> kIndices;

/// From each dword its three lower bytes, and the places they come back to; the fourth is anything.
struct TripleIndices {
  alignas(64) std::uint8_t gather[64];
  alignas(64) std::uint8_t spread[64];
  constexpr TripleIndices() : gather{}, spread{} {
    for (int i = 0; i < 64; ++i) {
      gather[i] = static_cast<std::uint8_t>(i / 3 * 4 + i % 3);
      spread[i] = static_cast<std::uint8_t>(i / 4 * 3 + i % 4);
    }
  }
};
inline constexpr TripleIndices kTriples;
inline constexpr __mmask64 kTripleMask = (__mmask64{1} << 48) - 1;

/// Byte `kByte` of each of 64 lanes, in order.
template <int kByte> OCTAVO_INLINE U8 gatherBytes(const U32 (&x)[4]) {
  const __m512i index = _mm512_load_si512(kIndices<std::uint8_t, 4, kByte, 32>.index);
  const __m512i lower = _mm512_permutex2var_epi8((__m512i)x[0], index, (__m512i)x[1]);
  const __m512i upper = _mm512_permutex2var_epi8((__m512i)x[2], index, (__m512i)x[3]);
  return (U8)_mm512_mask_blend_epi64(0xF0, lower, upper);
}
OCTAVO_INLINE U8 narrow(const U32 (&x)[4]) { return gatherBytes<0>(x); }
OCTAVO_INLINE U16 upperHalves(F32 a, F32 b) {
  const __m512i index = _mm512_load_si512(kIndices<std::uint16_t, 2, 1, 32>.index);
  return (U16)_mm512_permutex2var_epi16((__m512i)a, index, (__m512i)b);
}
OCTAVO_INLINE U8 narrowWords(U16 a, U16 b) {
  const __m512i index = _mm512_load_si512(kIndices<std::uint8_t, 2, 0, 64>.index);
  return (U8)_mm512_permutex2var_epi8((__m512i)a, index, (__m512i)b);
}
OCTAVO_INLINE void widenBytes(const std::uint8_t* from, U16 (&words)[2]) {
  widenBytesGeneric(from, words);
}
OCTAVO_INLINE U32 loadTriples(const std::uint8_t* from) {
  return (U32)_mm512_permutexvar_epi8(_mm512_load_si512(kTriples.spread),
                                      _mm512_maskz_loadu_epi8(kTripleMask, from));
}
OCTAVO_INLINE void storeTriples(std::uint8_t* to, U32 x) {
  _mm512_mask_storeu_epi8(to, kTripleMask,
                          _mm512_permutexvar_epi8(_mm512_load_si512(kTriples.gather), (__m512i)x));
}
OCTAVO_INLINE bool anySet(U32 mask) {
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
}
OCTAVO_INLINE F32 multiplyAdd(F32 a, F32 b, F32 c) {
  return (F32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
OCTAVO_INLINE F32 lookup(F32 table, U32 index) {
  return (F32)_mm512_permutexvar_ps((__m512i)index, (__m512)table);
}
OCTAVO_INLINE bool anyNan(const U32 (&x)[4]) {
  return _mm512_cmp_ps_mask((__m512)x[0], (__m512)x[1], _CMP_UNORD_Q) |
         _mm512_cmp_ps_mask((__m512)x[2], (__m512)x[3], _CMP_UNORD_Q);
}
OCTAVO_INLINE void finishStreaming() { _mm_sfence(); }

/// As FastFloatGeneric says, with the product inside a fused multiply-add (it is exact) and the
/// code's two fields joined by one sum of 16-bit products: 2^8 * significand + 2^(M+1) * upper
/// half, less the exponent's offset, has the code in its second byte.
struct FastFloat {
  F32 limit, emin, spread;
  U32 weights, offset;
  __m128i signShift;
  U8 signBit;
  bool unsignedZero;

  explicit OCTAVO_INLINE FastFloat(const ConvertPlan& plan) {
    const std::uint32_t m = plan.trailing;
    limit = splat(plan.limitValue);
    emin = floats(splat(plan.emin << 23));
    spread = floats(splat((127 + 23 - m) << 23));
    weights = splat(256u | 2u << m << 16);
    offset = splat(0u - ((plan.emin + 23 - m) << m << 8));
    signShift = _mm_cvtsi32_si128(__builtin_clz(plan.signBit) - 24);
    signBit = U8{} + static_cast<std::uint8_t>(plan.signBit);
    unsignedZero = plan.unsignedZero;
  }
  OCTAVO_INLINE U8 operator()(const U32 (&x)[4], const U32 (&signsOf)[4]) const {
    U32 sums[4];
    for (int i = 0; i < 4; ++i) {
      // 0x0A: the lesser of the absolute values, sign cleared.
      const __m512 a = _mm512_range_ps((__m512)x[i], (__m512)limit, 0x0A);
      const U32 power = bits((F32)_mm512_max_ps(a, (__m512)emin)) & kInfinity;
      const __m512 sum = _mm512_fmadd_ps((__m512)power, (__m512)spread, a);
      sums[i] = (U32)_mm512_dpwssd_epi32((__m512i)offset, (__m512i)sum, (__m512i)weights);
    }
    const U8 codes = gatherBytes<1>(sums);
    U8 signs = (U8)_mm512_srl_epi16((__m512i)gatherBytes<3>(signsOf), signShift) & signBit;
    if (unsignedZero)
      signs = (U8)_mm512_maskz_mov_epi8(_mm512_test_epi8_mask((__m512i)codes, (__m512i)codes),
                                        (__m512i)signs);
    return codes | signs;
  }
};

/// By the multiples of 2^10 that are in 2^12 times a value.
struct E2M1Entries {
  alignas(64) std::uint8_t code[64]; ///< off a tie
  alignas(64) std::uint8_t tie[64];  ///< 0, or what no rest is
  constexpr E2M1Entries() : code{}, tie{} {
    constexpr int kTies[] = {1, 3, 5, 7, 10, 14, 20};
    for (int i = 0; i < 64; ++i) {
      tie[i] = 0xFF;
      for (int each : kTies) {
        code[i] = static_cast<std::uint8_t>(code[i] + (i >= each));
        if (i == each)
          tie[i] = 0;
      }
    }
  }
};
inline constexpr E2M1Entries kE2M1Entries;

/// As that of AVX2: ties are multiples of 2^10, all of which fit a look-up here.
struct E2M1ByTable {
  static constexpr bool kExists = true;
  static constexpr int kMultipleExponent = 12;
  static OCTAVO_INLINE bool fits(const ConvertPlan& plan) { return isE2M1(plan); }

  /// Whether the values are off all ties; then also their codes, with the signs of `signsOf`.
  OCTAVO_INLINE bool operator()(const F32 (&x)[4], const U32 (&signsOf)[4], U8& codes) const {
    __m512i fixed[4];
    for (int i = 0; i < 4; ++i)
      fixed[i] = _mm512_cvtps_epi32((__m512)x[i]); // those beyond int32 become its least
    const __m512i lower = _mm512_abs_epi16(_mm512_packs_epi32(fixed[0], fixed[1]));
    const __m512i upper = _mm512_abs_epi16(_mm512_packs_epi32(fixed[2], fixed[3]));
    const __m512i below = _mm512_set1_epi16((1 << 10) - 1);
    const __m512i rest =
        _mm512_packs_epi16(_mm512_and_si512(lower, below), _mm512_and_si512(upper, below));
    const __m512i whole =
        _mm512_packus_epi16(_mm512_srli_epi16(lower, 10), _mm512_srli_epi16(upper, 10));
    const __m512i magnitudes = _mm512_permutexvar_epi8(whole, _mm512_load_si512(kE2M1Entries.code));
    const __m512i ties = _mm512_permutexvar_epi8(whole, _mm512_load_si512(kE2M1Entries.tie));
    const __m512i signs = _mm512_packs_epi16( // saturation keeps them
        _mm512_packs_epi32((__m512i)signsOf[0], (__m512i)signsOf[1]),
        _mm512_packs_epi32((__m512i)signsOf[2], (__m512i)signsOf[3]));
    // 0xF8: a | (b & c)
    const __m512i packed = _mm512_ternarylogic_epi32(magnitudes, _mm512_srli_epi16(signs, 4),
                                                     _mm512_set1_epi8(8), 0xF8);
    const __m512i transposed =
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    codes = (U8)_mm512_permutexvar_epi32(transposed, packed);
    return _mm512_cmpeq_epi8_mask(rest, ties) == 0;
  }
};

} // namespace octavo::kernels::avx512

#include "octavo/Kernels/generic/Decode.h"

namespace octavo::kernels::avx512 {

/// Any format: the low and the high byte of each code's bf16 come from 128-entry tables in two
/// registers each, twice two where the upper half of the codes has its own.
template <DecodePlan::Symmetry kSymmetry> struct DecodeByBytes {
  static constexpr int kTables = kSymmetry == DecodePlan::Symmetry::None ? 4 : 2;
  __m512i low[kTables], high[kTables], transposed;

  explicit OCTAVO_INLINE DecodeByBytes(const DecodePlan& plan) {
    for (int i = 0; i < kTables; ++i) {
      low[i] = _mm512_load_si512(plan.low + 64 * i);
      high[i] = _mm512_load_si512(plan.high + 64 * i);
    }
    // Interleaving works within 16 bytes: with dwords so transposed its results come in order.
    transposed = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  }
  OCTAVO_INLINE __m512i lookUp(const __m512i (&table)[kTables], __m512i codes) const {
    const __m512i lower = _mm512_permutex2var_epi8(table[0], codes, table[1]);
    if constexpr (kTables == 2)
      return lower;
    else
      return _mm512_mask_blend_epi8(_mm512_movepi8_mask(codes), lower,
                                    _mm512_permutex2var_epi8(table[2], codes, table[3]));
  }
  OCTAVO_INLINE void operator()(const std::uint8_t* from, F32 (&x)[4]) const {
    const __m512i codes = _mm512_permutexvar_epi32(transposed, _mm512_loadu_si512(from));
    const __m512i lows = lookUp(low, codes);
    __m512i highs = lookUp(high, codes);
    if constexpr (kSymmetry == DecodePlan::Symmetry::Sign) // 0xF8: a | (b & c)
      highs = _mm512_ternarylogic_epi32(highs, codes, _mm512_set1_epi8(-128), 0xF8);
    const __m512i even = _mm512_unpacklo_epi8(lows, highs);
    const __m512i odd = _mm512_unpackhi_epi8(lows, highs);
    const __m512i zero = _mm512_setzero_si512();
    x[0] = (F32)_mm512_unpacklo_epi16(zero, even);
    x[1] = (F32)_mm512_unpackhi_epi16(zero, even);
    x[2] = (F32)_mm512_unpacklo_epi16(zero, odd);
    x[3] = (F32)_mm512_unpackhi_epi16(zero, odd);
  }
};

template <typename Use> OCTAVO_INLINE void withDecodeStep(const DecodePlan& plan, Use use) {
  using Symmetry = DecodePlan::Symmetry;
  switch (plan.symmetry) {
  case Symmetry::Periodic:
    return use(DecodeByBytes<Symmetry::Periodic>(plan));
  case Symmetry::Sign:
    return use(DecodeByBytes<Symmetry::Sign>(plan));
  case Symmetry::None:
    return use(DecodeByBytes<Symmetry::None>(plan));
  }
}

} // namespace octavo::kernels::avx512
