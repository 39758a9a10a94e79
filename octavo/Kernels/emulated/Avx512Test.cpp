// What the kernels rely on in AVX-512's instructions, through the compiler's own intrinsics: built
// without `compile`, it tests a machine that has them. Expected values are hand-worked, or those of
// AVX2's instruction for half as much.
#include "octavo/Kernels/avx512/ProductParts.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace octavo::kernels::avx512 {
namespace {

using Bytes = std::array<std::uint8_t, 64>;
using Words = std::array<std::uint16_t, 32>;
using Dwords = std::array<std::uint32_t, 16>;
using Floats = std::array<float, 16>;

/// Of 64 bytes in memory, where the compiler does not look: it would compute with constants itself.
template <typename V, typename T> V vector(const T& lanes) {
  static_assert(sizeof(V) == sizeof(T));
  const void* from = &lanes;
  asm volatile("" : "+r"(from) : : "memory");
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <typename T, typename V> T lanes(V v) {
  static_assert(sizeof(V) == sizeof(T));
  T to;
  std::memcpy(&to, &v, sizeof to);
  return to;
}
/// A half of 64 bytes.
__m256i half(const auto& lanes, int which) { return vector<std::array<__m256i, 2>>(lanes)[which]; }
template <typename T> T halves(__m256i lower, __m256i upper) {
  return lanes<T>(std::array{lower, upper});
}

class EmulatedAvx512 : public testing::Test {
protected:
  std::mt19937 random{1};
  template <typename T> T draw() {
    Dwords dwords;
    for (std::uint32_t& dword : dwords)
      dword = random();
    return std::bit_cast<T>(dwords);
  }
};

/// Of 64 bytes the one at index % 64, by VPSHUFB, which looks up 16.
std::uint8_t lookedUp(const Bytes& table, std::uint8_t index) {
  const auto quarter = _mm_loadu_si128((const __m128i*)table.data() + (index >> 4 & 3));
  return static_cast<std::uint8_t>(
      _mm_cvtsi128_si32(_mm_shuffle_epi8(quarter, _mm_cvtsi32_si128(index & 15))));
}

TEST_F(EmulatedAvx512, PermutesBytes) {
  for (int i = 0; i < 100; ++i) {
    const auto table = draw<Bytes>(), second = draw<Bytes>(), index = draw<Bytes>();
    Bytes ofOne, ofTwo;
    for (int j = 0; j < 64; ++j) {
      ofOne[j] = lookedUp(table, index[j]);
      ofTwo[j] = lookedUp(index[j] & 64 ? second : table, index[j]);
    }
    const auto a = vector<__m512i>(table), b = vector<__m512i>(second);
    const auto at = vector<__m512i>(index);
    ASSERT_EQ(lanes<Bytes>(_mm512_permutexvar_epi8(at, a)), ofOne);
    ASSERT_EQ(lanes<Bytes>(_mm512_permutex2var_epi8(a, at, b)), ofTwo);
  }
}

TEST_F(EmulatedAvx512, PermutesWords) {
  for (int i = 0; i < 100; ++i) {
    const auto first = draw<Bytes>(), second = draw<Bytes>();
    const auto index = draw<Words>();
    Words expected;
    for (int j = 0; j < 32; ++j) {
      const Bytes& table = index[j] & 32 ? second : first;
      const auto at = static_cast<std::uint8_t>(index[j] % 32 * 2);
      expected[j] = static_cast<std::uint16_t>(lookedUp(table, at) | lookedUp(table, at + 1) << 8);
    }
    ASSERT_EQ(lanes<Words>(_mm512_permutex2var_epi16(vector<__m512i>(first), vector<__m512i>(index),
                                                     vector<__m512i>(second))),
              expected);
  }
}

TEST_F(EmulatedAvx512, PermutesDwordsOfTwo) {
  for (int i = 0; i < 100; ++i) {
    const auto first = draw<Dwords>(), second = draw<Dwords>(), index = draw<Dwords>();
    Dwords expected;
    for (int j = 0; j < 16; ++j)
      expected[j] = (index[j] & 16 ? second : first)[index[j] % 16];
    ASSERT_EQ(lanes<Dwords>(_mm512_permutex2var_epi32(
                  vector<__m512i>(first), vector<__m512i>(index), vector<__m512i>(second))),
              expected);
  }
}

TEST_F(EmulatedAvx512, PermutesFloats) {
  for (int i = 0; i < 100; ++i) {
    const auto table = draw<Dwords>();
    const auto index = draw<Dwords>();
    Dwords fromLower = halves<Dwords>(_mm256_permutevar8x32_epi32(half(table, 0), half(index, 0)),
                                      _mm256_permutevar8x32_epi32(half(table, 0), half(index, 1)));
    const Dwords fromUpper =
        halves<Dwords>(_mm256_permutevar8x32_epi32(half(table, 1), half(index, 0)),
                       _mm256_permutevar8x32_epi32(half(table, 1), half(index, 1)));
    for (int j = 0; j < 16; ++j)
      if (index[j] & 8)
        fromLower[j] = fromUpper[j];
    ASSERT_EQ(lanes<Dwords>(_mm512_permutexvar_ps(vector<__m512i>(index), vector<__m512>(table))),
              fromLower);
  }
}

TEST_F(EmulatedAvx512, ShiftsWords) {
  for (const std::uint64_t count : {0ull, 1ull, 4ull, 15ull, 16ull, 255ull, 1ull << 16, 1ull << 32})
    for (const std::uint64_t above : {0ull, 1ull}) { // in the register's upper half: not read
      const auto words = draw<Words>();
      const auto by = vector<__m128i>(std::array{count, above});
      ASSERT_EQ(
          lanes<Words>(_mm512_srl_epi16(vector<__m512i>(words), by)),
          halves<Words>(_mm256_srl_epi16(half(words, 0), by), _mm256_srl_epi16(half(words, 1), by)))
          << count;
    }
}

TEST_F(EmulatedAvx512, CombinesBitsByTable) {
  const auto a = draw<Dwords>(), b = draw<Dwords>(), c = draw<Dwords>();
  const auto x = vector<__m512i>(a), y = vector<__m512i>(b), z = vector<__m512i>(c);
  const auto table = [&]<int kTable>() {
    return lanes<Dwords>(_mm512_ternarylogic_epi32(x, y, z, kTable));
  };
  const auto expected = [&](auto combine) {
    Dwords to;
    for (int i = 0; i < 16; ++i)
      to[i] = combine(a[i], b[i], c[i]);
    return to;
  };
  using U = std::uint32_t;
  EXPECT_EQ(table.operator()<0xF8>(), expected([](U a, U b, U c) { return a | (b & c); }));
  EXPECT_EQ(table.operator()<0xCA>(), expected([](U a, U b, U c) { return (a & b) | (~a & c); }));
  EXPECT_EQ(table.operator()<0x96>(), expected([](U a, U b, U c) { return a ^ b ^ c; }));
  EXPECT_EQ(table.operator()<0x08>(), expected([](U a, U b, U c) { return ~a & b & c; }));
  EXPECT_EQ(table.operator()<0x02>(), expected([](U a, U b, U c) { return ~a & ~b & c; }));
}

constexpr float kInf = std::numeric_limits<float>::infinity();
float quiet(std::uint32_t payload) { return std::bit_cast<float>(0x7FC00000u | payload); }
float signalling(std::uint32_t payload) { return std::bit_cast<float>(0x7F800000u | payload); }

TEST_F(EmulatedAvx512, PacksWithSaturation) {
  for (int i = 0; i < 100; ++i) {
    auto a = draw<Dwords>(), b = draw<Dwords>();
    for (int j = 0; j < 16; j += 2) { // some fit
      a[j] = static_cast<std::uint32_t>(static_cast<std::int32_t>(a[j]) >> 16);
      b[j] = static_cast<std::uint32_t>(static_cast<std::int32_t>(b[j]) >> (i % 2 ? 24 : 16));
    }
    const auto x = vector<__m512i>(a), y = vector<__m512i>(b);
    ASSERT_EQ(lanes<Words>(_mm512_packs_epi32(x, y)),
              halves<Words>(_mm256_packs_epi32(half(a, 0), half(b, 0)),
                            _mm256_packs_epi32(half(a, 1), half(b, 1))));
    ASSERT_EQ(lanes<Bytes>(_mm512_packs_epi16(x, y)),
              halves<Bytes>(_mm256_packs_epi16(half(a, 0), half(b, 0)),
                            _mm256_packs_epi16(half(a, 1), half(b, 1))));
    ASSERT_EQ(lanes<Bytes>(_mm512_packus_epi16(x, y)),
              halves<Bytes>(_mm256_packus_epi16(half(a, 0), half(b, 0)),
                            _mm256_packus_epi16(half(a, 1), half(b, 1))));
  }
}

TEST_F(EmulatedAvx512, RoundsToIntegers) {
  const Floats values = {0.5f,     1.5f,     -0.5f,     -2.5f,   0.49999997f, 8388607.5f,
                         0x1p31f,  -0x1p31f, 0x1.8p31f, kInf,    -kInf,       quiet(1),
                         -1.0e-9f, 16777215, -7.5f,     1000.25f};
  ASSERT_EQ(lanes<Dwords>(_mm512_cvtps_epi32(vector<__m512>(values))),
            halves<Dwords>(_mm256_cvtps_epi32((__m256)half(values, 0)),
                           _mm256_cvtps_epi32((__m256)half(values, 1))));
}

TEST_F(EmulatedAvx512, TakesTheGreater) {
  const Floats special = {0.0f, -0.0f, 1.0f, -1.0f,    kInf,     -kInf,    0x1p-149f, -0x1p-149f,
                          2.0f, 3.0f,  0.5f, 0x1p127f, quiet(5), quiet(7), 1e-30f,    -1e30f};
  for (int turn = 0; turn < 16; ++turn) {
    Floats others;
    for (int i = 0; i < 16; ++i)
      others[i] = special[(i + turn) % 16];
    const auto max = [&](int which) {
      return (__m256i)_mm256_max_ps((__m256)half(special, which), (__m256)half(others, which));
    };
    ASSERT_EQ(lanes<Dwords>(_mm512_max_ps(vector<__m512>(special), vector<__m512>(others))),
              halves<Dwords>(max(0), max(1)))
        << turn;
  }
}

/// VRANGEPS of pairs of a table; each lane is one.
struct Ranged {
  float a, b, result;
};
template <int kControl> void expectRanges(const std::vector<Ranged>& rows) {
  for (const Ranged& row : rows) {
    Floats a, b;
    a.fill(row.a);
    b.fill(row.b);
    const auto got = lanes<Dwords>(_mm512_range_ps(vector<__m512>(a), vector<__m512>(b), kControl));
    for (int i = 0; i < 16; ++i)
      ASSERT_EQ(got[i], std::bit_cast<std::uint32_t>(row.result))
          << std::hex << kControl << ": " << std::bit_cast<std::uint32_t>(row.a) << ", "
          << std::bit_cast<std::uint32_t>(row.b);
  }
}

TEST_F(EmulatedAvx512, RestrictsRanges) {
  // The lesser absolute value without its sign, as the kernels use it.
  expectRanges<0x0A>({{3, 448, 3},
                      {-3, 448, 3},
                      {500, 448, 448},
                      {-500, 448, 448},
                      {-kInf, 448, 448},
                      {-0.0f, 448, 0},
                      {-0x1p-149f, 448, 0x1p-149f},
                      {-448, 448, 448},
                      // The number, where there is one and a quiet NaN.
                      {quiet(1), 448, 448},
                      {-3, quiet(1), 3},
                      {-quiet(1), quiet(2), quiet(1)},
                      // A signalling NaN, made quiet, its sign left alone.
                      {-signalling(1), 448, -quiet(1)},
                      {3, -signalling(1), -quiet(1)},
                      {quiet(1), -signalling(2), -quiet(2)},
                      {signalling(1), signalling(2), quiet(1)}});
  // Kinds of comparison, the sign its result's. Zeros, and for absolute values equal ones, go by
  // their signs.
  expectRanges<0x04>({{-3, 2, -3}, {2, 2, 2}, {0.0f, -0.0f, -0.0f}, {-0.0f, 0.0f, -0.0f}});
  expectRanges<0x05>(
      {{-3, 2, 2}, {quiet(1), 2, 2}, {2, quiet(1), 2}, {0.0f, -0.0f, 0.0f}, {-0.0f, 0.0f, 0.0f}});
  expectRanges<0x06>({{-3, 2, 2}, {-1, 2, -1}, {-2, 2, -2}, {2, -2, -2}});
  expectRanges<0x07>({{-3, 2, -3}, {-1, 2, 2}, {-2, 2, 2}, {2, -2, 2}});
  // The sign of the first operand; set.
  expectRanges<0x02>({{-3, 2, -2}, {3, -2, 2}});
  expectRanges<0x0E>({{-3, 2, -2}, {3, 2, -2}});
}

TEST_F(EmulatedAvx512, SumsProductsOfBytes) {
  for (int i = 0; i < 100; ++i) {
    auto bytes = draw<Bytes>();
    for (std::uint8_t& byte : bytes)
      byte &= 0x7F; // VPMADDUBSW would saturate
    const auto others = draw<Bytes>();
    const auto sum = draw<Dwords>();
    const auto dot = [&](int which) {
      return _mm256_add_epi32(
          half(sum, which),
          _mm256_madd_epi16(_mm256_maddubs_epi16(half(bytes, which), half(others, which)),
                            _mm256_set1_epi16(1)));
    };
    ASSERT_EQ(lanes<Dwords>(_mm512_dpbusd_epi32(vector<__m512i>(sum), vector<__m512i>(bytes),
                                                vector<__m512i>(others))),
              halves<Dwords>(dot(0), dot(1)));
  }
  Bytes unsignedBytes, signedBytes;
  unsignedBytes.fill(255);
  signedBytes.fill(0x80);
  Dwords least;
  least.fill(0x80000000u + 1);
  const auto got = lanes<Dwords>(_mm512_dpbusd_epi32(
      vector<__m512i>(least), vector<__m512i>(unsignedBytes), vector<__m512i>(signedBytes)));
  for (std::uint32_t lane : got) // wraps around
    EXPECT_EQ(lane, 0x80000001u - 4 * 255 * 128);
}

TEST_F(EmulatedAvx512, SumsProductsOfWords) {
  for (int i = 0; i < 100; ++i) {
    auto words = draw<Words>(), others = draw<Words>();
    if (i == 0) {
      words.fill(0x8000);
      others.fill(0x8000);
    }
    const auto sum = draw<Dwords>();
    const auto dot = [&](int which) {
      return _mm256_add_epi32(half(sum, which),
                              _mm256_madd_epi16(half(words, which), half(others, which)));
    };
    const Dwords expected = halves<Dwords>(dot(0), dot(1));
    ASSERT_EQ(lanes<Dwords>(_mm512_dpwssd_epi32(vector<__m512i>(sum), vector<__m512i>(words),
                                                vector<__m512i>(others))),
              expected);
    auto written = vector<__m512i>(sum);
    WordsDot::step(written, {vector<U8>(words)}, {vector<U8>(others)});
    ASSERT_EQ(lanes<Dwords>(written), expected);
    auto pinned = vector<U32>(sum);
    pinScale(pinned);
    ASSERT_EQ(lanes<Dwords>(pinned), sum);
  }
}

#if defined(__AVX512BF16__)

/// VDPBF16PS of one lane: sum + upper[0] * upper[1] + lower[0] * lower[1].
float dot(float sum, std::array<float, 2> upper, std::array<float, 2> lower) {
  const auto pair = [](float upper, float lower) {
    Dwords pairs;
    pairs.fill((std::bit_cast<std::uint32_t>(upper) & 0xFFFF0000) |
               std::bit_cast<std::uint32_t>(lower) >> 16);
    return vector<__m512bh>(pairs);
  };
  Floats sums;
  sums.fill(sum);
  const auto got = lanes<Floats>(
      _mm512_dpbf16_ps(vector<__m512>(sums), pair(upper[0], lower[0]), pair(upper[1], lower[1])));
  for (float lane : got)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(lane), std::bit_cast<std::uint32_t>(got[0]));
  return got[0];
}

TEST_F(EmulatedAvx512, SumsProductsOfBf16) {
  EXPECT_EQ(dot(1, {2, 3}, {5, 7}), 42);
  // The upper product first: 1 is lost in 2^24, which the lower one takes away.
  EXPECT_EQ(dot(1, {0x1p12f, 0x1p12f}, {0x1p12f, -0x1p12f}), 0);
  EXPECT_EQ(dot(0x1p24f, {-0x1p12f, 0x1p12f}, {1, 1}), 1);
  // To nearest, ties to even, after each product.
  EXPECT_EQ(dot(1, {0x1p-12f, 0x1p-12f}, {0x1p-12f, 0x1p-12f}), 1);
  EXPECT_EQ(dot(1 + 0x1p-23f, {0x1p-12f, 0x1p-12f}, {0, 0}), 1 + 0x1p-22f);
  // A product is not rounded by itself: neither infinite nor flushed to zero.
  EXPECT_EQ(dot(-0x1p127f, {0x1p127f, 2}, {0, 0}), 0x1p127f);
  EXPECT_EQ(dot(0x1.8p-126f, {0x1p-65f, 0x1p-65f}, {0, 0}), 0x1.8p-126f + 0x1p-130f);
}

#if defined(__AMX_BF16__)

/// TDPBF16PS of one element: `sum` and the products of pairs of the first row and column.
float tileDot(float sum, std::vector<std::array<float, 2>> products) {
  const auto upper = [](float value) { return std::bit_cast<std::uint32_t>(value) >> 16; };
  struct alignas(64) {
    std::uint8_t palette = 1, startRow = 0, reserved[14] = {};
    std::uint16_t columnBytes[16] = {8, 64, 8};
    std::uint8_t rows[16] = {2, 16, 16};
  } configuration;
  std::uint32_t c[2][2] = {}, a[2][16] = {}, b[16][2] = {};
  c[0][0] = std::bit_cast<std::uint32_t>(sum);
  for (std::size_t k = 0; k < products.size(); ++k) {
    a[0][k / 2] |= upper(products[k][0]) << k % 2 * 16;
    b[k / 2][0] |= upper(products[k][1]) << k % 2 * 16;
  }
  _tile_loadconfig(&configuration);
  _tile_loadd(0, c, 8);
  _tile_loadd(1, a, 64);
  _tile_loadd(2, b, 8);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, c, 8);
  _tile_release();
  EXPECT_EQ(c[0][1], 0U);
  EXPECT_EQ(c[1][0], 0U);
  return std::bit_cast<float>(c[0][0]);
}

TEST_F(EmulatedAvx512, SumsTilesOfBf16) {
  EXPECT_EQ(tileDot(1, {{2, 3}, {5, 7}, {11, 13}}), 185);
  // Even and odd products apart, and both before the sum.
  EXPECT_EQ(tileDot(0, {{0x1p12f, 0x1p12f}, {1, 1}, {-0x1p12f, 0x1p12f}, {1, 1}}), 2);
  EXPECT_EQ(tileDot(0, {{0x1p12f, 0x1p12f}, {-0x1p12f, 0x1p12f}, {1, 1}}), 0);
  EXPECT_EQ(tileDot(0x1p24f, {{1, 1}, {1, 1}}), 0x1p24f + 2);
  // To nearest, ties to even.
  EXPECT_EQ(tileDot(1, {{0x1p-12f, 0x1p-12f}}), 1);
  EXPECT_EQ(tileDot(1 + 0x1p-23f, {{0x1p-12f, 0x1p-12f}}), 1 + 0x1p-22f);
  // Denormals are zero, as operands and as results.
  EXPECT_EQ(tileDot(0, {{0x1p-127f, 0x1p126f}, {1, 1}}), 1);
  EXPECT_EQ(tileDot(0, {{0x1p-70f, 0x1p-60f}}), 0);
}

#endif

TEST_F(EmulatedAvx512, TakesDenormalsForZeroInProductsOfBf16) {
  EXPECT_EQ(dot(0, {0x1p-127f, 0x1p126f}, {1, 1}), 1);
  EXPECT_EQ(dot(0, {1, 1}, {0x1p126f, 0x1p-127f}), 1);
  EXPECT_EQ(dot(0x1p-127f, {0x1p-63f, 0x1p-63f}, {0, 0}), 0x1p-126f);
  EXPECT_EQ(dot(0x1p-126f, {-0x1.8p-63f, 0x1p-63f}, {0x1.4p-1f, 0x1p-125f}), 0x1.4p-126f)
      << "a sum between the products is flushed too";
  const float flushed = dot(0x1p-126f, {0, 0}, {-0x1.8p-63f, 0x1p-63f});
  EXPECT_EQ(flushed, 0) << "where -2^-127 is not";
  EXPECT_TRUE(std::signbit(flushed));
}

TEST_F(EmulatedAvx512, LeavesTheModesAloneInProductsOfBf16) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x6000); // toward zero
  const unsigned during = _mm_getcsr();
  const float sum = dot(1 + 0x1p-23f, {0x1p-12f, 0x1p-12f}, {0, 0});
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after, during);
  EXPECT_EQ(sum, 1 + 0x1p-22f);
}

#endif

} // namespace
} // namespace octavo::kernels::avx512
