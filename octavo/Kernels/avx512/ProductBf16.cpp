// Dot products of bf16 (AVX512_BF16), apart from the AVX-512 set: not every machine of the set has
// them. A separate namespace keeps the linker from using a function compiled here for the set.
#define OCTAVO_KERNELS_ISA avx512bf16
#include "octavo/Kernels/avx512/ProductParts.h"

#include "octavo/Kernels/generic/ProductFloat.h"

#include <algorithm>

#if !defined(__AVX512BF16__)
#error "this file is compiled with AVX512_BF16"
#endif

namespace octavo::kernels::avx512tiles {
FloatTile floatRows, floatRowsByTwo;
}

namespace octavo::kernels::avx512bf16 {

/// Every narrow value is a bf16, and its product with a power of two in range is one. VDPBF16PS
/// adds both products of a pair to the sum with two roundings at most, and takes subnormals for
/// zero.
struct PairsOfBf16 {
  static constexpr int kGroupSteps = 16;
  static constexpr int kGroupBytes = kGroup * kPanelColumns; ///< of codes
  static constexpr int kDirectRows = kMostDirectRows;
  /// Rows with two sums and a total each, beside the tables of codes.
  static constexpr int kRowsOfPass = 8;
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

  __m512i low[2], high[2];

  explicit OCTAVO_INLINE PairsOfBf16(const FloatFormat& format) {
    for (int i = 0; i < 2; ++i) {
      low[i] = _mm512_load_si512(format.low + 64 * i);
      high[i] = _mm512_load_si512(format.high + 64 * i);
    }
  }
  /// Each four codes of four lanes, their pairs apart as PackedOperand.h says: VPUNPCK goes to four
  /// ports, where VPERMI2B goes to the two that VDPBF16PS needs.
  OCTAVO_INLINE void decode(__m512i codes, __m512i& first, __m512i& second) const {
    const __m512i lows = _mm512_permutex2var_epi8(low[0], codes, low[1]);
    // 0xF8: a | (b & c)
    const __m512i highs = _mm512_ternarylogic_epi32(
        _mm512_permutex2var_epi8(high[0], codes, high[1]), codes, _mm512_set1_epi8(-128), 0xF8);
    first = _mm512_unpacklo_epi8(lows, highs);
    second = _mm512_unpackhi_epi8(lows, highs);
  }

  /// kRows rows, group by group: products are summed from 0, those of the first pairs and those of
  /// the second apart, multiplied by the scale and added. Two groups at once are a twentieth faster
  /// in the caches, and an eighth slower from memory.
  template <int kRows> static void directRows(const FloatDirectArguments& panel) {
    constexpr int kSteps = 8;
    // Of few rows a step is decoded so many steps before it is multiplied, as the registers allow:
    // a look-up that comes when its multiplications are next waits behind others for a port that
    // both need.
    constexpr int kAhead = kRows < 4 ? 5 : kRows == 4 ? 3 : 0;
    const PairsOfBf16 pairs(*panel.format);
    const std::ptrdiff_t leftStride = panel.leftStride;
    const std::uint8_t* codes = panel.codes;
    const float* scales = panel.scales;
    const std::byte* left = panel.left;
    // An eighth total does not fit the registers.
    constexpr int kHeld = std::min(kRows, 7);
    F32 total[kHeld] = {};
    if (kRows > kHeld)
      store(panel.sums + kHeld * kPanelColumns, F32{});
    __m512i first[kSteps + kAhead], second[kSteps + kAhead];
    auto decodeStep = [&](const std::uint8_t* group, int s) __attribute__((always_inline)) {
      __m512i four = _mm512_loadu_si512(group + s % kSteps * kStepBytes);
      // One step at a time: otherwise the compiler decodes ahead until it has to spill.
      asm volatile("" : "+v"(four));
      pairs.decode(four, first[s], second[s]);
      if (kAhead > 0) {
        asm volatile("" : "+v"(first[s]));
        asm volatile("" : "+v"(second[s]));
      }
    };
#pragma unroll
    for (int s = 0; s < kAhead; ++s)
      decodeStep(codes, s);
    for (std::int64_t n = panel.groups; n > 0; --n) {
      // After the last group, its first steps are decoded again, and the result is unused.
      const std::uint8_t* const next = n > 1 ? codes + kGroupBytes : codes;
      F32 sums[kRows][2] = {};
      if constexpr (kRows > 1)
        prefetchLevel2(scales);
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        if constexpr (kRows > 1)
          prefetchLevel2(codes + s * kStepBytes);
        else
          __builtin_prefetch(codes + kPrefetchBytes + s * kStepBytes);
        decodeStep(s + kAhead < kSteps ? codes : next, s + kAhead);
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          const std::byte* row = left + i * leftStride;
          sums[i][0] = step(sums[i][0], (F32)first[s], (F32)broadcast(row + 4 * s));
          sums[i][1] = step(sums[i][1], (F32)second[s], (F32)broadcast(row + 4 * (kSteps + s)));
          asm volatile("" : "+v"(sums[i][0]));
          asm volatile("" : "+v"(sums[i][1]));
        }
      }
#pragma unroll
      for (int s = 0; s < kAhead; ++s) {
        first[s] = first[kSteps + s];
        second[s] = second[kSteps + s];
      }
      const F32 scale = load<F32>(scales);
#pragma unroll
      for (int i = 0; i < kHeld; ++i)
        total[i] += (sums[i][0] + sums[i][1]) * scale;
      if (kRows > kHeld) {
        float* const rest = panel.sums + kHeld * kPanelColumns;
        store(rest, load<F32>(rest) + (sums[kRows - 1][0] + sums[kRows - 1][1]) * scale);
      }
      codes += kGroupBytes;
      scales += kPanelColumns;
      left += 4 * kGroupSteps;
    }
    for (int i = 0; i < kHeld; ++i)
      store(panel.sums + i * kPanelColumns, total[i]);
  }

  /// In passes of as many rows as fit the registers.
  template <bool> static void direct(const FloatDirectArguments& panel) {
    using Rows = void(const FloatDirectArguments&);
    static constexpr Rows* kByRows[kRowsOfPass] = {directRows<1>, directRows<2>, directRows<3>,
                                                   directRows<4>, directRows<5>, directRows<6>,
                                                   directRows<7>, directRows<8>};
    FloatDirectArguments pass = panel;
    for (int passes = (panel.rows + kRowsOfPass - 1) / kRowsOfPass, rest = panel.rows; passes > 0;
         --passes) {
      pass.rows = (rest + passes - 1) / passes;
      kByRows[pass.rows - 1](pass);
      pass.left += pass.rows * pass.leftStride;
      pass.sums += pass.rows * kPanelColumns;
      rest -= pass.rows;
    }
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

/// From [step][row] of a group's 16 steps to 16 dwords for each of `lanes` rows, `stride` apart.
static void turnGroup(const __m512i* steps, int lanes, std::byte* out, std::ptrdiff_t stride) {
  if (lanes != 8) { // the last rows of a product
    const auto* const dwords = reinterpret_cast<const std::uint32_t*>(steps);
    for (int row = 0; row < lanes; ++row)
      for (int step = 0; step < PairsOfBf16::kGroupSteps; ++step)
        __builtin_memcpy(out + row * stride + 4 * step, dwords + step * lanes + row, 4);
    return;
  }
  // Vector v has steps 2 v and 2 v + 1 of rows 0 to 7: bit by bit, the row's number in the vector
  // and the vector's number change places; the last time the steps come into order, too.
  struct Indices {
    alignas(64) std::uint32_t lower[3][16], upper[3][16];
    constexpr Indices() : lower(), upper() {
      for (std::uint32_t bit = 0; bit < 3; ++bit)
        for (std::uint32_t i = 0; i < 16; ++i) {
          const std::uint32_t from = bit == 2 ? i % 2 * 8 + i / 2 : i, mask = 1u << bit;
          lower[bit][i] = from & mask ? 16 + (from & ~mask) : from;
          upper[bit][i] = from & mask ? 16 + from : from | mask;
        }
    }
  };
  static constexpr Indices kIndices;
  __m512i vectors[8];
  for (int v = 0; v < 8; ++v)
    vectors[v] = steps[v];
#pragma unroll
  for (int bit = 0; bit < 3; ++bit) {
    const __m512i lower = _mm512_load_si512(kIndices.lower[bit]),
                  upper = _mm512_load_si512(kIndices.upper[bit]);
#pragma unroll
    for (int v = 0; v < 8; ++v)
      if ((v >> bit & 1) == 0) {
        const __m512i a = vectors[v], b = vectors[v | 1 << bit];
        vectors[v] = _mm512_permutex2var_epi32(a, lower, b);
        vectors[v | 1 << bit] = _mm512_permutex2var_epi32(a, upper, b);
      }
  }
  for (int row = 0; row < 8; ++row)
    _mm512_storeu_si512(out + row * stride, vectors[row]);
}

static void expandRows(const FloatFormat& format, const std::uint8_t* codes, const float* scales,
                       int lanes, std::int64_t groups, std::byte* out) {
  if (lanes == kPanelColumns)
    return PairsOfBf16::expand(format, codes, scales, lanes, groups, out);
  constexpr int kRowBytes = 4 * PairsOfBf16::kGroupSteps;
  __m512i steps[8];
  for (std::int64_t g = 0; g < groups; ++g) {
    PairsOfBf16::expand(format, codes + g * kGroup * lanes, scales + g * lanes, lanes, 1,
                        reinterpret_cast<std::byte*>(steps));
    turnGroup(steps, lanes, out + g * kRowBytes, groups * kRowBytes);
  }
}

constexpr FloatKernels byTiles(FloatKernels table) {
  table.ofRows[0] = avx512tiles::floatRows;
  table.ofRows[1] = avx512tiles::floatRowsByTwo;
  table.expand = expandRows;
  // More rows pay for decoding the panels: VDPBF16PS is half as fast as multiply-adds of f32 where
  // there are tiles.
  table.directRows = 4;
  return table;
}

extern const FloatKernels kFloatProducts;
const FloatKernels kFloatProducts =
    floatTable<PairsOfBf16>(kProductIsa, FloatDot::Bf16Pairs, kPanelsOfTile);
extern const FloatKernels kFloatProductsByTiles;
const FloatKernels kFloatProductsByTiles =
    byTiles(floatTable<PairsOfBf16>(kProductIsa, FloatDot::Bf16Pairs, kPanelsOfTile));

} // namespace octavo::kernels::avx512bf16
