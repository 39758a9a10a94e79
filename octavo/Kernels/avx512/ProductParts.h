// The parts of products of the AVX-512 set: VNNI's dot products in 6 x 32 tiles, 64-entry look-ups.
#pragma once

#if !defined(__AVX512VBMI__) || !defined(__AVX512VNNI__)
#error "this file is compiled with the flags of the set"
#endif

#ifndef OCTAVO_KERNELS_ISA
#define OCTAVO_KERNELS_ISA avx512
#endif
#define OCTAVO_KERNELS_VECTOR_BYTES 64
#include "octavo/Kernels/Product/ProductKernels.h"
#include "octavo/Kernels/generic/Vector.h"

#include <immintrin.h>

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

inline constexpr Isa kProductIsa = Isa::Avx512;
/// 12 sums hide the latency of a dot product (5 cycles, two per cycle). With 12 sums of C, 2
/// columns and a row in registers, 5 registers are left for the finish.
inline constexpr int kTallest = 6;
/// 16 sums hide the latency of VDPBF16PS (6 cycles, two per cycle).
inline constexpr int kFloatTallest = 8;
inline constexpr int kPanelsOfTile = 2;
/// 8 x 32: with 24 sums, the compiler spills some.
inline constexpr int kPlainRows = 8, kPlainSums = 16;
inline constexpr bool kSumsInRegisters = true;
inline constexpr bool kSumsBytesIn16 = false;

/// 32 registers hold what the compiler wants to have in flight.
template <typename V> OCTAVO_INLINE void pin(V&) {}
/// Otherwise the compiler adds a column's bias to each row's scale before the broadcast.
OCTAVO_INLINE void pinScale(U32& column) { asm("" : "+v"(column)); }

OCTAVO_INLINE U8 broadcast(const std::byte* from) {
  int word;
  __builtin_memcpy(&word, from, 4);
  return (U8)_mm512_set1_epi32(word);
}

/// The 32-bit sums do not saturate, so any offset of the unsigned side is corrected exactly, and
/// the correction costs nothing: the sum starts from it.
struct BytesDot {
  using Sum = __m512i;
  static constexpr int kDepth = 4, kAtOnce = 1;
  static OCTAVO_INLINE U8 row(const std::byte* from) { return broadcast(from); }
  static OCTAVO_INLINE Sum begin(std::uint32_t correction) {
    return _mm512_set1_epi32(static_cast<int>(correction));
  }
  static OCTAVO_INLINE void step(Sum& sum, const U8 (&column)[1], const U8 (&row)[1]) {
    sum = _mm512_dpbusd_epi32(sum, (__m512i)column[0], (__m512i)row[0]);
  }
  static OCTAVO_INLINE I32 end(Sum sum, U32) { return (I32)sum; }
  /// 256 times a sum that began from 0.
  static OCTAVO_INLINE U32 end256(Sum sum) { return (U32)sum << 8; }
};
using BytesWrappedDot = BytesDot;
using BytesInPairsDot = BytesDot;

struct WordsDot {
  using Sum = __m512i;
  static constexpr int kDepth = 2, kAtOnce = 1;
  static OCTAVO_INLINE U8 row(const std::byte* from) { return broadcast(from); }
  static OCTAVO_INLINE Sum begin(std::uint32_t) { return _mm512_setzero_si512(); }
  static OCTAVO_INLINE void step(Sum& sum, const U8 (&column)[1], const U8 (&row)[1]) {
    // clang 22 compiles the intrinsic to two instructions, and reorders and spills the sums.
    asm volatile("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"((__m512i)column[0]), "v"((__m512i)row[0]));
  }
  static OCTAVO_INLINE I32 end(Sum sum, U32) { return (I32)sum; }
};

/// The entries of 64 that 16 codes name.
struct CodeTable {
  __m512i table;
  explicit OCTAVO_INLINE CodeTable(const std::int8_t* entries)
      : table(_mm512_loadu_si512(entries)) {}
  OCTAVO_INLINE __m128i operator()(VectorOf<std::uint8_t, 16> codes) const {
    const __m512i index = _mm512_castsi128_si512((__m128i)codes);
    return _mm512_castsi512_si128(_mm512_permutexvar_epi8(index, table));
  }
};

/// E2M1 codes to twice their value plus 12. VPERMB reads six bits of an index; the table repeats
/// over the upper two, so that neither nibble is masked.
struct NibbleTable {
  __m512i table = _mm512_broadcast_i32x4(
      _mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0));
  OCTAVO_INLINE U8 low(U8 codes) const {
    return (U8)_mm512_permutexvar_epi8((__m512i)codes, table);
  }
  OCTAVO_INLINE U8 high(U8 codes) const {
    return (U8)_mm512_permutexvar_epi8(_mm512_srli_epi16((__m512i)codes, 4), table);
  }
};

/// from[index] of each lane, index < 8.
OCTAVO_INLINE F32 pick(const float* from, U32 index) {
  const __m512 eight = _mm512_castps256_ps512(_mm256_loadu_ps(from));
  return (F32)_mm512_permutexvar_ps((__m512i)index, eight);
}
/// Entries of 16 that the eight nibbles of each lane name.
struct NibbleFloats {
  __m512 entries;
  explicit OCTAVO_INLINE NibbleFloats(const float* entries) : entries(_mm512_loadu_ps(entries)) {}
  /// Of the lowest nibble first.
  OCTAVO_INLINE void get(U32 nibbles, F32 (&values)[8]) const {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      values[i] = (F32)_mm512_permutexvar_ps((__m512i)(nibbles >> (4 * i)), entries);
  }
};
OCTAVO_INLINE F32 halvesToFloats(VectorOf<std::int16_t, kLanes> halves) {
  return (F32)_mm512_cvtph_ps((__m256i)halves);
}
OCTAVO_INLINE F32 multiplyAdd(F32 sum, F32 b, F32 a) {
  return (F32)_mm512_fmadd_ps((__m512)b, (__m512)a, (__m512)sum);
}

/// Codes as halves, whose conversion decodes subnormals and E5M2's infinities too.
struct HalfDecode {
  static constexpr bool kHalves = true;
  static constexpr bool kStores = false;
  static constexpr int kBytes = 1;
  __m128i shift;
  __m256i mask;
  explicit OCTAVO_INLINE HalfDecode(const FloatFormat& format)
      : shift(_mm_cvtsi32_si128(8 - format.halfShift)),
        mask(_mm256_set1_epi16(static_cast<short>(format.halfMask))) {}
  /// kLanes values.
  OCTAVO_INLINE F32 get(const std::byte* codes) const {
    const __m256i words = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)codes));
    return halvesToFloats(
        (VectorOf<std::int16_t, kLanes>)_mm256_and_si256(_mm256_sll_epi16(words, shift), mask));
  }
};

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
