// Dots of narrow vectors against long-hand integer sums (D1 to D5 of docs/semantics.md).

#include "octavo/Numerics/Dot.h"

#include "octavo/Numerics/FieldValues.h"
#include "octavo/Numerics/TestConstants.h"

#include <cmath>
#include <limits>
#include <random>

namespace octavo::numerics {
namespace {

using format::element;
using Codes = std::vector<std::uint8_t>;
using Scales = std::vector<std::uint32_t>;

Codes encodeAll(const ElementFormat& format, const std::vector<double>& values) {
  Codes codes;
  for (double value : values)
    codes.push_back(static_cast<std::uint8_t>(encode(format, value)));
  return codes;
}

// D1.

TEST(DotTest, IotaWithItself) {
  const ElementFormat& e4m3 = element("e4m3");
  const Codes x = encodeAll(e4m3, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(elementDot(e4m3, x, e4m3, x), 140); // rounded to f8E4M3: 144 (RFC of 2024-08-08)
}

TEST(DotTest, MixedFormats) {
  const Codes x = encodeAll(element("e2m1fn"), {0.5, -6, 3});
  const Codes y = encodeAll(element("e4m3fn"), {448, 0x1p-9, -1.75});
  EXPECT_EQ(elementDot(element("e2m1fn"), x, element("e4m3fn"), y), 224 - 6 * 0x1p-9 - 5.25);
}

TEST(DotTest, EmptyAndCancelledSumsArePositiveZero) {
  const ElementFormat& e5m2 = element("e5m2");
  EXPECT_FALSE(std::signbit(elementDot(e5m2, {}, e5m2, {})));
  const Codes x = encodeAll(e5m2, {57344, 57344}), y = encodeAll(e5m2, {1, -1});
  EXPECT_EQ(elementDot(e5m2, x, e5m2, y), 0);
  EXPECT_FALSE(std::signbit(elementDot(e5m2, x, e5m2, y)));
}

TEST(DotTest, E5m2LosesNothing) {
  // 57344^2 is 49 * 2^26; (2^-16)^2 = 2^-32 lies 64 bits lower, outside an f64 beside it.
  const ElementFormat& e5m2 = element("e5m2");
  const double big = 57344, tiny = 0x1p-16;
  const Codes x = encodeAll(e5m2, {big, tiny, big}), y = encodeAll(e5m2, {big, tiny, -big});
  EXPECT_EQ(elementDot(e5m2, x, e5m2, y), 0x1p-32);
}

/// A finite code as an integer number of 2^-24, from its fields: enough for every narrow format.
std::int64_t units(const ElementFormat& format, std::uint8_t code) {
  return static_cast<std::int64_t>(fields::value(format, code) * 0x1p24);
}

class EveryPair : public testing::TestWithParam<ElementFormat> {};
INSTANTIATE_TEST_SUITE_P(DotTest, EveryPair, testing::ValuesIn([] {
                           std::vector<ElementFormat> rows = fields::formatsUpTo(8);
                           std::erase_if(rows, [](const auto& row) { return !row.hasZero(); });
                           return rows;
                         }()),
                         fields::testName);

TEST_P(EveryPair, SumsAgreeWithLongIntegers) {
  const ElementFormat& a = GetParam();
  std::mt19937 random(37);
  const auto finiteCode = [&](const ElementFormat& format) {
    for (;;) {
      const auto code = static_cast<std::uint8_t>(random() % format.codeCount());
      if (std::isfinite(fields::value(format, code)))
        return code;
    }
  };
  for (const ElementFormat& b : format::kElementFormats) {
    if (!b.isNarrow() || !b.hasZero())
      continue;
    for (int trial = 0; trial < 50; ++trial) {
      Codes x, y;
      __int128 sum = 0;
      for (int i = 0; i < 1 + trial * 5; ++i) {
        x.push_back(finiteCode(a));
        y.push_back(finiteCode(b));
        sum += static_cast<__int128>(units(a, x.back())) * units(b, y.back());
      }
      // One rounding, by the long double's 64 bits only where it is exact.
      const bool isExact = static_cast<__int128>(static_cast<long double>(sum)) == sum;
      if (isExact)
        EXPECT_EQ(elementDot(a, x, b, y),
                  std::ldexp(static_cast<double>(static_cast<long double>(sum)), -48))
            << b.name;
    }
  }
}

// D2: IEEE 754, 6.1 and 7.2.
TEST(DotTest, NonFiniteElements) {
  const ElementFormat& e5m2 = element("e5m2");
  const auto dotOf = [&](const Codes& x, const Codes& y) { return elementDot(e5m2, x, e5m2, y); };
  const std::uint8_t inf = 0x7C, minusInf = 0xFC, nan = 0x7E, one = 0x3C, zero = 0;
  EXPECT_EQ(dotOf({inf, one}, {one, one}), kInf);
  EXPECT_EQ(dotOf({inf, one}, {minusInf, one}), -kInf);
  EXPECT_TRUE(std::isnan(dotOf({inf}, {zero})));
  EXPECT_TRUE(std::isnan(dotOf({inf, inf}, {one, minusInf})));
  EXPECT_TRUE(std::isnan(dotOf({nan, one}, {zero, one})));
  EXPECT_TRUE(std::isnan(dotOf({nan, inf}, {one, one})));
}

// D3 to D5.

TEST(DotTest, OnePieceIsSumTimesScales) {
  const ElementFormat& e4m3 = element("e4m3fn");
  const ElementFormat& e8m0 = element("e8m0fnu");
  const Codes x = encodeAll(e4m3, {1, 2, 3, 4}), y = encodeAll(e4m3, {1, -1, 2, 0.5});
  const Scales sx = {130}, sy = {120};
  EXPECT_EQ(dot({&e4m3, &e8m0, 4, x, sx}, {&e4m3, &e8m0, 4, y, sy}), 7.0f * 8 / 128);
}

TEST(DotTest, PiecesEndAtTheBlockEdgesOfBoth) {
  // Blocks of 4 and 3 over 7 elements: pieces [0,3) [3,4) [4,6) [6,7); the last blocks are short.
  const ElementFormat& e2m1 = element("e2m1fn");
  const ElementFormat& e8m0 = element("e8m0fnu");
  const Codes x = encodeAll(e2m1, {1, 1, 1, 1, 1, 1, 1});
  const Scales sx = {127, 128}, sy = {127, 129, 131};
  EXPECT_EQ(dot({&e2m1, &e8m0, 4, x, sx}, {&e2m1, &e8m0, 3, x, sy}),
            3 * 1 * 1 + 1 * 1 * 4 + 2 * 2 * 4 + 1 * 2 * 16);
}

TEST(DotTest, PiecesAreAddedInF32InOrder) {
  // 2^24 + 1 + 1: in f32, in this order, the ones are lost; in the other they are not.
  const ElementFormat& e2m1 = element("e2m1fn");
  const ElementFormat& e8m0 = element("e8m0fnu");
  const Codes x = encodeAll(e2m1, {1, 1, 1});
  const Scales ones = {127, 127, 127};
  EXPECT_EQ(dot({&e2m1, &e8m0, 1, x, Scales{151, 127, 127}}, {&e2m1, &e8m0, 1, x, ones}), 0x1p24f);
  EXPECT_EQ(dot({&e2m1, &e8m0, 1, x, Scales{127, 127, 151}}, {&e2m1, &e8m0, 1, x, ones}),
            0x1p24f + 2);
}

TEST(DotTest, NanScaleMakesNan) {
  const ElementFormat& e2m1 = element("e2m1fn");
  const ElementFormat& e8m0 = element("e8m0fnu");
  const Codes x = {0, 0};
  const Scales good = {127, 127}, bad = {127, 0xFF};
  EXPECT_TRUE(std::isnan(dot({&e2m1, &e8m0, 1, x, bad}, {&e2m1, &e8m0, 1, x, good})));
  EXPECT_EQ(dot({&e2m1, &e8m0, 1, x, good}, {&e2m1, &e8m0, 1, x, good}), 0);
}

TEST(DotTest, BeyondAndBelowF32) {
  const ElementFormat& e4m3 = element("e4m3fn");
  const ElementFormat& e8m0 = element("e8m0fnu");
  const Codes one = encodeAll(e4m3, {1}), minusOne = encodeAll(e4m3, {-1});
  const Scales large = {254}, small = {0};
  EXPECT_EQ(dot({&e4m3, &e8m0, 1, one, large}, {&e4m3, &e8m0, 1, one, large}),
            std::numeric_limits<float>::infinity());
  EXPECT_EQ(dot({&e4m3, &e8m0, 1, minusOne, large}, {&e4m3, &e8m0, 1, one, large}),
            -std::numeric_limits<float>::infinity());
  EXPECT_EQ(dot({&e4m3, &e8m0, 1, one, small}, {&e4m3, &e8m0, 1, one, small}), 0);
  // The product of scales alone would leave f32; with the other it does not.
  EXPECT_EQ(dot({&e4m3, &e8m0, 1, one, large}, {&e4m3, &e8m0, 1, one, small}), 1);
}

TEST(DotTest, OuterScalesComeLastInF32) {
  const ElementFormat& e2m1 = element("e2m1fn");
  const ElementFormat& e4m3 = element("e4m3fn");
  const Codes x = encodeAll(e2m1, {1, 3});
  const Scales s = {0x38};
  const float a = 0.3f, b = 0.7f; // 10 * a * b in the other order is one ulp less
  EXPECT_EQ(dot({&e2m1, &e4m3, 2, x, s, a}, {&e2m1, &e4m3, 2, x, s, b}), 10.0f * (a * b));
}

TEST(DotTest, OuterScalesWhoseProductF32DoesNotHoldComeLastInF64) {
  const ElementFormat& e2m1 = element("e2m1fn");
  const ElementFormat& e4m3 = element("e4m3fn");
  const auto scaled = [&](const Codes& x, std::uint32_t scale, float a, float b) {
    const Scales s = {scale};
    return dot({&e2m1, &e4m3, 2, x, s, a}, {&e2m1, &e4m3, 2, x, s, b});
  };
  const Codes least = encodeAll(e2m1, {0.5, 0.5}), greatest = encodeAll(e2m1, {6, 6});
  // 2^-19 = 2 (1/2 2^-9)^2, and 2 (6 * 448)^2
  EXPECT_EQ(scaled(least, 0x01, 1e22f, 1e22f), static_cast<float>(0x1p-19 * 1e22f * 1e22f));
  EXPECT_EQ(scaled(greatest, 0x7E, 1e-22f, 3e-23f),
            static_cast<float>(14450688.0 * 1e-22f * 3e-23f));
  EXPECT_EQ(scaled(encodeAll(e2m1, {0, 0}), 0x38, 1e22f, 1e22f), 0);
  EXPECT_EQ(scaled(greatest, 0x38, 1e22f, 1e22f), std::numeric_limits<float>::infinity());
}

TEST(DotTest, IsTheDotOfTheDequantizedWhereAllIsExact) {
  std::mt19937 random(41);
  const ElementFormat& e2m3 = element("e2m3fn");
  const ElementFormat& e8m0 = element("e8m0fnu");
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t size = 1 + random() % 100;
    Codes x, y;
    Scales sx, sy;
    for (std::size_t i = 0; i < size; ++i) {
      x.push_back(static_cast<std::uint8_t>(random() % 64));
      y.push_back(static_cast<std::uint8_t>(random() % 64));
    }
    for (std::size_t b = 0; b <= size / 16; ++b) {
      sx.push_back(126 + random() % 2);
      sy.push_back(126 + random() % 2);
    }
    // Sums of multiples of 2^-8 below 2^16 are exact in f32 and f64 alike.
    double expected = 0;
    for (std::size_t i = 0; i < size; ++i)
      expected += fields::value(e2m3, x[i]) * std::exp2(static_cast<int>(sx[i / 16]) - 127) *
                  fields::value(e2m3, y[i]) * std::exp2(static_cast<int>(sy[i / 16]) - 127);
    EXPECT_EQ(dot({&e2m3, &e8m0, 16, x, sx}, {&e2m3, &e8m0, 16, y, sy}), expected);
  }
}

} // namespace
} // namespace octavo::numerics
