// The parts of the AVX2 set: registers of 32 bytes, in two halves for most permutations; F16C.
#pragma once

#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__) || defined(__AVX512F__)
#error "this file is compiled with the flags of the set"
#endif

#define OCTAVO_KERNELS_ISA avx2
#define OCTAVO_KERNELS_VECTOR_BYTES 32
#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/generic/FastFloat.h"

#include <immintrin.h>

namespace octavo::kernels::avx2 {

inline constexpr Isa kIsa = Isa::Avx2;
inline constexpr bool kHasMultiplyAdd = true;
inline constexpr bool kHasLookup = true;

/// Packing within register halves permutes the dwords of four vectors; the permutation
/// 0 4 1 5 2 6 3 7 restores their order.
OCTAVO_INLINE U8 inOrder(__m256i packed) {
  return (U8)_mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
OCTAVO_INLINE U8 narrow(const U32 (&x)[4]) {
  auto low = [&](int i) { return (__m256i)(x[i] & 0xFF); };
  return inOrder(_mm256_packus_epi16(_mm256_packus_epi32(low(0), low(1)),
                                     _mm256_packus_epi32(low(2), low(3))));
}
OCTAVO_INLINE U16 upperHalves(F32 a, F32 b) {
  const __m256i packed = _mm256_packus_epi32((__m256i)(bits(a) >> 16), (__m256i)(bits(b) >> 16));
  return (U16)_mm256_permute4x64_epi64(packed, 0xD8);
}
OCTAVO_INLINE U8 narrowWords(U16 a, U16 b) {
  const __m256i packed = _mm256_packus_epi16((__m256i)(a & 0xFF), (__m256i)(b & 0xFF));
  return (U8)_mm256_permute4x64_epi64(packed, 0xD8);
}
OCTAVO_INLINE void widenBytes(const std::uint8_t* from, U16 (&words)[2]) {
  widenBytesGeneric(from, words);
}
OCTAVO_INLINE U32 loadTriples(const std::uint8_t* from) {
  // The upper half starts at byte 12; it is loaded from byte 8, so as not to read beyond 24.
  const __m256i halves =
      _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i*)from)),
                              _mm_loadu_si128((const __m128i*)(from + 8)), 1);
  return (U32)_mm256_shuffle_epi8(
      halves, _mm256_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1, //
                               4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1));
}
OCTAVO_INLINE void storeTriples(std::uint8_t* to, U32 x) {
  const __m256i halves = _mm256_shuffle_epi8(
      (__m256i)x, _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, //
                                   0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  const __m256i joined =
      _mm256_permutevar8x32_epi32(halves, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
  _mm_storeu_si128((__m128i*)to, _mm256_castsi256_si128(joined));
  _mm_storel_epi64((__m128i*)(to + 16), _mm256_extracti128_si256(joined, 1));
}
OCTAVO_INLINE bool anySet(U32 mask) { return _mm256_movemask_ps((__m256)mask) != 0; }
OCTAVO_INLINE F32 multiplyAdd(F32 a, F32 b, F32 c) {
  return (F32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
OCTAVO_INLINE F32 lookup(F32 table, U32 index) {
  return (F32)_mm256_permutevar8x32_ps((__m256)table, (__m256i)index);
}
OCTAVO_INLINE bool anyNan(const U32 (&x)[4]) {
  const __m256 unordered = _mm256_or_ps(_mm256_cmp_ps((__m256)x[0], (__m256)x[1], _CMP_UNORD_Q),
                                        _mm256_cmp_ps((__m256)x[2], (__m256)x[3], _CMP_UNORD_Q));
  return _mm256_movemask_ps(unordered) != 0;
}
OCTAVO_INLINE void finishStreaming() { _mm_sfence(); }

/// Bytes with the signs of lanes, in the order before inOrder: saturation keeps them.
OCTAVO_INLINE U16 packedSigns(const U32 (&x)[4]) {
  return (U16)_mm256_packs_epi16(_mm256_packs_epi32((__m256i)x[0], (__m256i)x[1]),
                                 _mm256_packs_epi32((__m256i)x[2], (__m256i)x[3]));
}

/// As FastFloatGeneric says, with the product inside a fused multiply-add (it is exact) and the
/// code's two fields joined by one sum of 16-bit products, 2^(7-M) times the code and an offset,
/// which fits 16 bits: the limit is that of codes, which the largest f32 and Inf stay above as
/// bytes. Signs are packed apart.
struct FastFloat {
  F32 emin, spread;
  U32 weights;
  U16 offset;
  __m128i codeShift, signShift;
  U8 limit, signBit;
  bool unsignedZero;

  explicit OCTAVO_INLINE FastFloat(const ConvertPlan& plan) {
    const std::uint32_t m = plan.trailing;
    const std::uint32_t (&limits)[2] = plan.finiteLimit;
    limit = U8{} + static_cast<std::uint8_t>(limits[0] > limits[1] ? limits[0] : limits[1]);
    emin = floats(splat(plan.emin << 23));
    spread = floats(splat((127 + 23 - m) << 23));
    weights = splat(1u << 16 | 128u >> m);
    offset = U16{} + static_cast<std::uint16_t>((plan.emin + 23 - m) << 7);
    codeShift = _mm_cvtsi32_si128(static_cast<int>(7 - m));
    signShift = _mm_cvtsi32_si128(__builtin_clz(plan.signBit) - 24);
    signBit = U8{} + static_cast<std::uint8_t>(plan.signBit);
    unsignedZero = plan.unsignedZero;
  }
  OCTAVO_INLINE U8 operator()(const U32 (&x)[4], const U32 (&signsOf)[4]) const {
    __m256i sums[4];
    for (int i = 0; i < 4; ++i) {
      const __m256 a = (__m256)(x[i] & kAbs);
      const U32 power = bits((F32)_mm256_max_ps(a, (__m256)emin)) & kInfinity;
      const __m256 sum = _mm256_fmadd_ps((__m256)power, (__m256)spread, a);
      sums[i] = _mm256_madd_epi16((__m256i)sum, (__m256i)weights);
    }
    const __m256i lower = (__m256i)((U16)_mm256_packs_epi32(sums[0], sums[1]) - offset);
    const __m256i upper = (__m256i)((U16)_mm256_packs_epi32(sums[2], sums[3]) - offset);
    const U8 unlimited = (U8)_mm256_packus_epi16(_mm256_srl_epi16(lower, codeShift),
                                                 _mm256_srl_epi16(upper, codeShift));
    const U8 codes = (U8)_mm256_min_epu8((__m256i)unlimited, (__m256i)limit);
    U8 signs = (U8)_mm256_srl_epi16((__m256i)packedSigns(signsOf), signShift) & signBit;
    if (unsignedZero)
      signs &= (U8)(codes != U8{});
    return inOrder((__m256i)(codes | signs));
  }
};

/// E2M1 from 2^12 times the values, which is where ties are 1, 3, 5, 7, 10, 14 and 20 times 2^10.
/// Rounded to an integer, a value is on the side of a tie that it was on, or on the tie: only then
/// does the code take a closer look. Multiples of 2^10 count below 8, of 2^11 above, since that
/// many fit a lookup; the odd ones above 8 are looked at closer for nothing.
struct E2M1ByTable {
  static constexpr bool kExists = true;
  static constexpr int kMultipleExponent = 12;
  static OCTAVO_INLINE bool fits(const ConvertPlan& plan) { return isE2M1(plan); }
  /// Whether the values are off all ties; then also their codes, with the signs of `signsOf`.
  OCTAVO_INLINE bool operator()(const F32 (&x)[4], const U32 (&signsOf)[4], U8& codes) const {
    const __m128i codeOf = // negative ones
        _mm_setr_epi8(8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 14, 15, 15);
    const __m128i isTie = _mm_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0);
    __m256i fixed[4];
    for (int i = 0; i < 4; ++i)
      fixed[i] = _mm256_cvtps_epi32((__m256)x[i]); // those beyond int32 become its least
    const __m256i lower = _mm256_abs_epi16(_mm256_packs_epi32(fixed[0], fixed[1]));
    const __m256i upper = _mm256_abs_epi16(_mm256_packs_epi32(fixed[2], fixed[3]));
    const __m256i below = _mm256_set1_epi16((1 << 10) - 1);
    const __m256i rest = _mm256_packs_epi16(lower & below, upper & below);
    const __m256i whole =
        _mm256_packus_epi16(_mm256_srli_epi16(lower, 10), _mm256_srli_epi16(upper, 10));
    const __m256i index = _mm256_min_epu8(_mm256_min_epu8(whole, _mm256_set1_epi8(15)),
                                          _mm256_avg_epu8(whole, _mm256_set1_epi8(7)));
    const __m256i magnitudes = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(codeOf), index);
    const __m256i onTies =
        _mm256_cmpgt_epi8(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(isTie), index), rest);
    // Looked up by a byte whose bit 7 is set, an entry is 0.
    const __m256i isPositive =
        _mm256_shuffle_epi8(_mm256_set1_epi8(8), (__m256i)packedSigns(signsOf));
    codes = inOrder(magnitudes ^ isPositive);
    return _mm256_movemask_epi8(onTies) == 0;
  }
};

} // namespace octavo::kernels::avx2

#include "octavo/Kernels/generic/Decode.h"

namespace octavo::kernels::avx2 {

/// Eight codes twice, and where a byte shuffle takes them from to be bytes of eight words. Half
/// registers are what F16C reads: whole ones would have to be taken apart again.
OCTAVO_INLINE __m128i eightCodes(const std::uint8_t* from) {
  return _mm_castpd_si128(_mm_loaddup_pd((const double*)from));
}
OCTAVO_INLINE __m128i toUpperBytes() {
  return _mm_setr_epi8(-1, 0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1, 6, -1, 7);
}
OCTAVO_INLINE __m128i toLowerBytes() {
  return _mm_setr_epi8(0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1, 6, -1, 7, -1);
}

/// Byte-wide formats of at most 5 exponent bits: a code's fields are moved to those of f16, whose
/// value is a constant times the code's own. Codes for which it is not are few and go through the
/// table: those from a magnitude up, and `exception` where the format has one.
template <bool kHasException> struct DecodeBytesByHalf {
  const DecodePlan& plan;
  __m128i shift, fields;
  F32 factor;
  U8 magnitudeMask, toBit7, exception;

  explicit OCTAVO_INLINE DecodeBytesByHalf(const DecodePlan& plan) : plan(plan) {
    shift = _mm_cvtsi32_si128(static_cast<int>(8 - plan.shift));
    fields = _mm_set1_epi16(static_cast<short>(plan.magnitudeMask << plan.shift | 0x8000));
    factor = splat(plan.factor);
    magnitudeMask = U8{} + plan.magnitudeMask;
    toBit7 = U8{} + static_cast<std::uint8_t>(0x80 - plan.firstSpecial);
    exception = U8{} + plan.exception;
  }
  OCTAVO_INLINE void operator()(const std::uint8_t* from, F32 (&x)[4]) const {
    const U8 codes = load<U8>(from);
    U8 special = (codes & magnitudeMask) + toBit7;
    if constexpr (kHasException)
      special |= (U8)(codes == exception);
    if (__builtin_expect(_mm256_movemask_epi8((__m256i)special), 0)) {
      F32 decoded[4]; // not x, which would be stored in every step if its address were taken
      decodeSpecial(plan, from, decoded);
      for (int i = 0; i < 4; ++i)
        x[i] = decoded[i];
      return;
    }
    for (int i = 0; i < 4; ++i) {
      const __m128i words = _mm_shuffle_epi8(eightCodes(from + 8 * i), toUpperBytes());
      x[i] = (F32)_mm256_cvtph_ps(_mm_sra_epi16(words, shift) & fields) * factor;
    }
  }
  static __attribute__((noinline)) void decodeSpecial(const DecodePlan& plan,
                                                      const std::uint8_t* from, F32 (&x)[4]) {
    decodeByTable(plan, from, x);
  }
};

/// The same for narrower formats, all of whose codes are f16 times the constant.
struct DecodeByHalf {
  __m128i shift, signShift, magnitudes;
  F32 factor;

  explicit OCTAVO_INLINE DecodeByHalf(const DecodePlan& plan) {
    shift = _mm_cvtsi32_si128(static_cast<int>(plan.shift));
    signShift = _mm_cvtsi32_si128(static_cast<int>(16 - plan.width));
    magnitudes = _mm_set1_epi16(static_cast<short>(plan.magnitudeMask << plan.shift));
    factor = splat(plan.factor);
  }
  OCTAVO_INLINE void operator()(const std::uint8_t* from, F32 (&x)[4]) const {
    for (int i = 0; i < 4; ++i) {
      const __m128i words = _mm_shuffle_epi8(eightCodes(from + 8 * i), toLowerBytes());
      const __m128i halves = (_mm_sll_epi16(words, shift) & magnitudes) |
                             (_mm_sll_epi16(words, signShift) & _mm_set1_epi16(-0x8000));
      x[i] = (F32)_mm256_cvtph_ps(halves) * factor;
    }
  }
};

/// Of at most 16 codes and 2 trailing significand bits: the upper byte of the f16, whose lower one
/// is 0, is looked up.
struct DecodeNibbles {
  __m128i upperBytes;
  F32 factor;

  static OCTAVO_INLINE bool fits(const DecodePlan& plan) {
    return plan.width <= 4 && plan.shift >= 8;
  }
  explicit OCTAVO_INLINE DecodeNibbles(const DecodePlan& plan) {
    const std::uint32_t sign = plan.magnitudeMask + 1u;
    std::uint8_t bytes[16];
    for (std::uint32_t code = 0; code < 16; ++code)
      bytes[code] = static_cast<std::uint8_t>((code & plan.magnitudeMask) << (plan.shift - 8) |
                                              (code & sign ? 0x80 : 0));
    upperBytes = _mm_loadu_si128((const __m128i*)bytes);
    factor = splat(plan.factor);
  }
  OCTAVO_INLINE void operator()(const std::uint8_t* from, F32 (&x)[4]) const {
    for (int i = 0; i < 4; ++i) {
      // The lower byte of each word gets code 0's byte, which is 0 as well.
      const __m128i index =
          _mm_shuffle_epi8(eightCodes(from + 8 * i), toUpperBytes()) & _mm_set1_epi16(0x0F00);
      x[i] = (F32)_mm256_cvtph_ps(_mm_shuffle_epi8(upperBytes, index)) * factor;
    }
  }
};

struct DecodeInteger {
  F32 factor;
  explicit OCTAVO_INLINE DecodeInteger(const DecodePlan& plan) : factor(splat(plan.factor)) {}
  OCTAVO_INLINE void operator()(const std::uint8_t* from, F32 (&x)[4]) const {
    for (int i = 0; i < 4; ++i) {
      const __m128i codes = _mm_loadl_epi64((const __m128i*)(from + 8 * i));
      x[i] = (F32)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes)) * factor;
    }
  }
};

template <typename Use> OCTAVO_INLINE void withDecodeStep(const DecodePlan& plan, Use use) {
  switch (plan.route) {
  case DecodePlan::Route::Half:
    if (DecodeNibbles::fits(plan))
      return use(DecodeNibbles(plan));
    if (plan.width == 8)
      return plan.exception == 0xFF ? use(DecodeBytesByHalf<false>(plan))
                                    : use(DecodeBytesByHalf<true>(plan));
    return plan.hasSpecials ? use(DecodeByTable{plan}) : use(DecodeByHalf(plan));
  case DecodePlan::Route::Integer:
    return use(DecodeInteger(plan));
  case DecodePlan::Route::Table:
    return use(DecodeByTable{plan});
  }
}

} // namespace octavo::kernels::avx2
