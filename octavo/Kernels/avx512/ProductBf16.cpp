// Dot products of bf16 (AVX512_BF16), beside the AVX-512 set: not every machine of the set has
// them. In a namespace of its own, so that no function compiled here stands in for one of the
// set's.
#define OCTAVO_KERNELS_ISA avx512bf16
#include "octavo/Kernels/avx512/ProductParts.h"

#include "octavo/Kernels/generic/Interleave.h"
#include "octavo/Kernels/generic/ProductFloat.h"

#if !defined(__AVX512BF16__)
#error "this file is compiled with AVX512_BF16"
#endif

namespace octavo::kernels::avx512bf16 {

/// Every narrow value is a bf16, and its product with a power of two in range is one. VDPBF16PS
/// adds both products of a pair to the sum with two roundings at most, and takes subnormals for
/// zero.
struct PairsOfBf16 {
  static constexpr int kGroupSteps = 16;
  /// Two sums each, beside the tables of codes.
  static constexpr int kDirectRows = 8;
  static constexpr bool kHalves = false;
  static OCTAVO_INLINE F32 step(F32 sum, F32 b, F32 a) {
    return (F32)_mm512_dpbf16_ps((__m512)sum, (__m512bh)b, (__m512bh)a);
  }

  /// The pair of bf16 times each lane's scale; exact.
  static OCTAVO_INLINE __m512i scaled(__m512i pair, __m512 scale) {
    const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000));
    const __m512 first = _mm512_mul_ps((__m512)_mm512_slli_epi32(pair, 16), scale);
    const __m512 second = _mm512_mul_ps((__m512)_mm512_and_si512(pair, upper), scale);
    // 0xCA: upper ? second : first
    return _mm512_ternarylogic_epi32(upper, (__m512i)second, _mm512_srli_epi32((__m512i)first, 16),
                                     0xCA);
  }

  __m512i low[2], high[2], firstPair, secondPair;

  explicit OCTAVO_INLINE PairsOfBf16(const FloatFormat& format) {
    for (int i = 0; i < 2; ++i) {
      low[i] = _mm512_load_si512(format.low + 64 * i);
      high[i] = _mm512_load_si512(format.high + 64 * i);
    }
    // Bytes 0 and 1 of each dword, and 2 and 3, with their upper bytes from the second register.
    VectorOf<std::uint8_t, 64> first, second;
    for (int i = 0; i < 64; ++i) {
      const int from = i / 4 * 4 + i % 4 / 2 + i % 2 * 64;
      first[i] = static_cast<std::uint8_t>(from);
      second[i] = static_cast<std::uint8_t>(from + 2);
    }
    firstPair = (__m512i)first;
    secondPair = (__m512i)second;
  }
  OCTAVO_INLINE void decode(__m512i codes, __m512i& first, __m512i& second) const {
    const __m512i lows = _mm512_permutex2var_epi8(low[0], codes, low[1]);
    // 0xF8: a | (b & c)
    const __m512i highs = _mm512_ternarylogic_epi32(
        _mm512_permutex2var_epi8(high[0], codes, high[1]), codes, _mm512_set1_epi8(-128), 0xF8);
    first = _mm512_permutex2var_epi8(lows, firstPair, highs);
    second = _mm512_permutex2var_epi8(lows, secondPair, highs);
  }

  /// kRows rows, group by group: products are summed from 0, those of the first pairs and those of
  /// the second apart, multiplied by the scale and added.
  template <int kRows> static void directRows(const FloatDirectArguments& panel) {
    constexpr int kGroupBytes = kGroup * kPanelColumns;
    const PairsOfBf16 pairs(*panel.format);
    for (int i = 0; i < kRows; ++i)
      store(panel.sums + i * kPanelColumns, F32{});
    for (std::int64_t g = 0; g < panel.groups; ++g) {
      const std::uint8_t* codes = panel.codes + g * kGroupBytes;
      const std::byte* left = panel.left + g * 4 * kGroupSteps;
      for (int line = 0; line < kGroupBytes; line += 64)
        __builtin_prefetch(codes + kPrefetchBytes + line);
      F32 sums[kRows][2] = {};
#pragma unroll
      for (int s = 0; s < 8; ++s) {
        __m512i first, second;
        pairs.decode(_mm512_loadu_si512(codes + s * kStepBytes), first, second);
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          const std::byte* row = left + i * panel.leftStride;
          sums[i][0] = step(sums[i][0], (F32)first, (F32)broadcast(row + 4 * s));
          sums[i][1] = step(sums[i][1], (F32)second, (F32)broadcast(row + 4 * (8 + s)));
        }
      }
      const F32 scale = load<F32>(panel.scales + g * kPanelColumns);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        float* sum = panel.sums + i * kPanelColumns;
        store(sum, load<F32>(sum) + (sums[i][0] + sums[i][1]) * scale);
      }
    }
  }
  template <bool> static void direct(const FloatDirectArguments& panel) {
    using Rows = void(const FloatDirectArguments&);
    static constexpr Rows* kByRows[kDirectRows] = {directRows<1>, directRows<2>, directRows<3>,
                                                   directRows<4>, directRows<5>, directRows<6>,
                                                   directRows<7>, directRows<8>};
    kByRows[panel.rows - 1](panel);
  }

  static void expand(const FloatFormat& format, const std::uint8_t* codes, const float* scales,
                     int lanes, std::int64_t groups, std::byte* out) {
    const PairsOfBf16 pairs(format);
    forLanes(lanes, [&]<int kCount>() {
      constexpr int kDwords = 8 * kCount;
      for (std::int64_t g = 0; g < groups; ++g) {
        const ScalePattern<kCount> pattern(scales);
#pragma unroll
        for (int at = 0; at < kDwords; at += 16) {
          // The last half of an odd number of lanes; not by masked moves, microcode on Zen.
          const bool isHalf = at + 16 > kDwords;
          __m512i first, second;
          pairs.decode(
              isHalf ? _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i*)(codes + 4 * at)))
                     : _mm512_loadu_si512(codes + 4 * at),
              first, second);
          const auto scale = (__m512)pattern.at(at / 16);
          first = scaled(first, scale);
          second = scaled(second, scale);
          std::byte* const seconds = out + 4 * kDwords;
          if (isHalf) {
            _mm256_storeu_si256((__m256i*)(out + 4 * at), _mm512_castsi512_si256(first));
            _mm256_storeu_si256((__m256i*)(seconds + 4 * at), _mm512_castsi512_si256(second));
          } else {
            _mm512_storeu_si512(out + 4 * at, first);
            _mm512_storeu_si512(seconds + 4 * at, second);
          }
        }
        codes += 4 * kDwords;
        scales += kCount;
        out += 8 * kDwords;
      }
    });
  }
};

static void interleaveTile(const std::uint8_t* const* rows, std::byte* to) {
  Interleaving<kFloatTallest> group;
#pragma unroll
  for (int pair = 0; pair < kFloatTallest / 2; ++pair)
    group.setPair(pair, rows[2 * pair], rows[2 * pair + 1]);
  group.forParts([&](int part, auto dwords)
                     __attribute__((always_inline)) { store(to + part * 64, dwords); });
}

extern const FloatKernels kFloatProducts;
const FloatKernels kFloatProducts = [] {
  FloatKernels table = floatTable<PairsOfBf16>(kProductIsa, FloatDot::Bf16Pairs, kPanelsOfTile);
  table.interleave = interleaveTile;
  return table;
}();

} // namespace octavo::kernels::avx512bf16
