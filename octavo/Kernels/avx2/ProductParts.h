// The parts of products of the AVX2 set: sums of byte products in 16 bits, 4 x 16 tiles.
#pragma once

#if !defined(__AVX2__) || defined(__AVX512F__)
#error "this file is compiled with the flags of the set"
#endif

#define OCTAVO_KERNELS_ISA avx2
#define OCTAVO_KERNELS_VECTOR_BYTES 32
#include "octavo/Kernels/Product/ProductKernels.h"
#include "octavo/Kernels/generic/Vector.h"

#include <immintrin.h>

namespace octavo::kernels::avx2 {

inline constexpr Isa kProductIsa = Isa::Avx2;
/// 8 sums, 2 columns, a row and a product take 12 of 16 registers; 6 rows would spill.
inline constexpr int kTallest = 4;
inline constexpr int kFloatTallest = 6;
inline constexpr int kPanelsOfTile = 1;
/// Sums in 16 registers, with 2 columns and a row.
inline constexpr int kPlainRows = 6, kPlainSums = 12;
inline constexpr bool kSumsInRegisters = false;
inline constexpr bool kSumsBytesIn16 = true;

/// Ends a step. Without it, the compiler computes products of later steps early and spills them,
/// which was a third slower.
template <typename V> OCTAVO_INLINE void pin(V& sum) { asm volatile("" : "+x"(sum)); }
OCTAVO_INLINE void pinScale(U32& column) { asm("" : "+x"(column)); }

OCTAVO_INLINE U8 broadcast(const std::byte* from) {
  int word;
  __builtin_memcpy(&word, from, 4);
  return (U8)_mm256_set1_epi32(word);
}
/// Broadcasts to a register. Otherwise the compiler would repeat the broadcast for each use, and
/// loads would limit the tile.
OCTAVO_INLINE U8 broadcastOnce(const std::byte* from) {
  U8 words = broadcast(from);
  asm("" : "+x"(words));
  return words;
}
OCTAVO_INLINE I32 sumOfPairs(__m256i words, U32 correction) {
  return (I32)_mm256_madd_epi16(words, _mm256_set1_epi16(1)) + (I32)correction;
}

/// Sums the whole piece in 16 bits, for operands whose sums of products stay below 2^15, which
/// productPlan guarantees.
struct BytesDot {
  using Sum = __m256i;
  static constexpr int kDepth = 4, kAtOnce = 1;
  static OCTAVO_INLINE U8 row(const std::byte* from) { return broadcastOnce(from); }
  static OCTAVO_INLINE Sum begin(std::uint32_t) { return _mm256_setzero_si256(); }
  static OCTAVO_INLINE void step(Sum& sum, const U8 (&column)[1], const U8 (&row)[1]) {
    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16((__m256i)column[0], (__m256i)row[0]));
  }
  static OCTAVO_INLINE I32 end(Sum sum, U32 correction) { return sumOfPairs(sum, correction); }
  /// 256 times a sum that began from 0.
  static OCTAVO_INLINE U32 end256(Sum sum) {
    return (U32)_mm256_madd_epi16(sum, _mm256_set1_epi16(256));
  }
};

/// Adds a correction to each 16-bit sum, which undoes its overflow.
struct BytesWrappedDot : BytesDot {
  static OCTAVO_INLINE I32 end(Sum sum, U32 corrections) {
    return sumOfPairs(_mm256_add_epi16(sum, (__m256i)corrections), U32{});
  }
};

/// Sums two steps in 16 bits, then widens.
struct BytesInPairsDot {
  using Sum = I32;
  static constexpr int kDepth = 4, kAtOnce = 2;
  /// Loaded again for each column: the compiler would keep it in a register and spill others.
  static OCTAVO_INLINE U8 row(const std::byte* from) {
    __m256i words;
    asm volatile("vpbroadcastd %1, %0" : "=x"(words) : "m"(*reinterpret_cast<const int*>(from)));
    return (U8)words;
  }
  static OCTAVO_INLINE Sum begin(std::uint32_t) { return Sum{}; }
  static OCTAVO_INLINE void step(Sum& sum, const U8 (&column)[2], const U8 (&row)[2]) {
    const __m256i words =
        _mm256_add_epi16(_mm256_maddubs_epi16((__m256i)column[0], (__m256i)row[0]),
                         _mm256_maddubs_epi16((__m256i)column[1], (__m256i)row[1]));
    sum += sumOfPairs(words, U32{});
  }
  static OCTAVO_INLINE I32 end(Sum sum, U32 correction) { return sum + (I32)correction; }
};

struct WordsDot {
  using Sum = I32;
  static constexpr int kDepth = 2, kAtOnce = 1;
  static OCTAVO_INLINE U8 row(const std::byte* from) { return broadcastOnce(from); }
  static OCTAVO_INLINE Sum begin(std::uint32_t) { return Sum{}; }
  static OCTAVO_INLINE void step(Sum& sum, const U8 (&column)[1], const U8 (&row)[1]) {
    sum += (I32)_mm256_madd_epi16((__m256i)column[0], (__m256i)row[0]);
  }
  static OCTAVO_INLINE I32 end(Sum sum, U32) { return sum; }
};

/// The entries of 64 that 16 codes name: four look-ups of 16, chosen by bits 4 and 5.
struct CodeTable {
  __m128i tables[4];
  explicit OCTAVO_INLINE CodeTable(const std::int8_t* entries) {
    for (int i = 0; i < 4; ++i)
      tables[i] = _mm_loadu_si128((const __m128i*)entries + i);
  }
  OCTAVO_INLINE __m128i operator()(VectorOf<std::uint8_t, 16> codes) const {
    const __m128i c = (__m128i)codes, bit4 = _mm_slli_epi16(c, 3), bit5 = _mm_slli_epi16(c, 2);
    const __m128i lower =
        _mm_blendv_epi8(_mm_shuffle_epi8(tables[0], c), _mm_shuffle_epi8(tables[1], c), bit4);
    const __m128i upper =
        _mm_blendv_epi8(_mm_shuffle_epi8(tables[2], c), _mm_shuffle_epi8(tables[3], c), bit4);
    return _mm_blendv_epi8(lower, upper, bit5);
  }
};

/// E2M1 codes to twice their value plus 12.
struct NibbleTable {
  __m256i table = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0));
  OCTAVO_INLINE U8 low(U8 codes) const {
    return (U8)_mm256_shuffle_epi8(table, (__m256i)(codes & 15));
  }
  OCTAVO_INLINE U8 high(U8 codes) const {
    return (U8)_mm256_shuffle_epi8(
        table, _mm256_and_si256(_mm256_srli_epi16((__m256i)codes, 4), _mm256_set1_epi8(15)));
  }
};

/// from[index % 8] of each lane.
OCTAVO_INLINE F32 pick(const float* from, U32 index) {
  return (F32)_mm256_permutevar8x32_ps(_mm256_loadu_ps(from), (__m256i)index);
}
/// Entries of 16, f32 whose lower halves are 0, that the eight nibbles of each lane name. Their
/// upper halves are looked up byte by byte, 32 at a time: picking f32 takes two operations for
/// eight.
struct NibbleFloats {
  __m256i low, high;
  explicit OCTAVO_INLINE NibbleFloats(const float* entries) {
    std::uint8_t bytes[2][16];
    for (int i = 0; i < 16; ++i) {
      const auto entry = __builtin_bit_cast(std::uint32_t, entries[i]);
      bytes[0][i] = static_cast<std::uint8_t>(entry >> 16);
      bytes[1][i] = static_cast<std::uint8_t>(entry >> 24);
    }
    low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i*)bytes[0]));
    high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i*)bytes[1]));
  }
  /// Of the lowest nibble first.
  OCTAVO_INLINE void get(U32 nibbles, F32 (&values)[8]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const auto index = (__m256i)(nibbles >> (4 * i) & 0x0F0F0F0F);
      const __m256i lows = _mm256_shuffle_epi8(low, index),
                    highs = _mm256_shuffle_epi8(high, index);
      // The upper halves of two lanes' four, then of four lanes' two. In registers: the compiler
      // would make of them more look-ups.
      auto lower = (__m256)_mm256_unpacklo_epi8(lows, highs);
      auto upper = (__m256)_mm256_unpackhi_epi8(lows, highs);
      asm("" : "+x"(lower), "+x"(upper));
      const auto first = (U32)_mm256_shuffle_ps(lower, upper, 0x88);
      const auto second = (U32)_mm256_shuffle_ps(lower, upper, 0xDD);
      values[i] = floats(first << 16);
      values[i + 2] = floats(first & 0xFFFF0000);
      values[i + 4] = floats(second << 16);
      values[i + 6] = floats(second & 0xFFFF0000);
    }
  }
};
OCTAVO_INLINE F32 halvesToFloats(VectorOf<std::int16_t, kLanes> halves) {
  return (F32)_mm256_cvtph_ps((__m128i)halves);
}
OCTAVO_INLINE F32 multiplyAdd(F32 sum, F32 b, F32 a) {
  return (F32)_mm256_fmadd_ps((__m256)b, (__m256)a, (__m256)sum);
}

/// Codes by F16C, which decodes subnormals and E5M2's infinities too. Halves go through memory: a
/// conversion of what lies there is twice as fast as one of a register, whose upper part must be
/// moved first.
struct HalfDecode {
  static constexpr bool kHalves = true;
  static constexpr bool kStores = true;
  static constexpr int kBytes = 2;
  __m128i shift;
  __m256i mask;
  explicit OCTAVO_INLINE HalfDecode(const FloatFormat& format)
      : shift(_mm_cvtsi32_si128(8 - format.halfShift)),
        mask(_mm256_set1_epi16(static_cast<short>(format.halfMask))) {}
  /// `count` codes, a multiple of 16, as halves.
  OCTAVO_INLINE void put(const std::uint8_t* codes, int count, std::byte* halves) const {
#pragma clang loop unroll_count(4)
    for (int i = 0; i < count; i += 16) {
      const __m256i words = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)(codes + i)));
      _mm256_store_si256((__m256i*)(halves + 2 * i),
                         _mm256_and_si256(_mm256_sll_epi16(words, shift), mask));
    }
  }
  static OCTAVO_INLINE F32 get(const std::byte* halves) {
    return (F32)_mm256_cvtph_ps(_mm_load_si128((const __m128i*)halves));
  }
};

} // namespace octavo::kernels::avx2
