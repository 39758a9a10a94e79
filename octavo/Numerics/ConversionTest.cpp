// Literal numbers of the formats' documents, and the properties of conversions that are stated one
// by one in docs/semantics.md. The exhaustive comparison is in RoundingTest.cpp.

#include "octavo/Numerics/Conversion.h"

#include "octavo/Numerics/FieldValues.h"
#include "octavo/Numerics/TestConstants.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace octavo::numerics {
namespace {

using format::element;

// N1: decode.

class EveryNarrowOr16BitFormat : public testing::TestWithParam<ElementFormat> {};
INSTANTIATE_TEST_SUITE_P(ConversionTest, EveryNarrowOr16BitFormat,
                         testing::ValuesIn(fields::formatsUpTo(16)), fields::testName);

TEST_P(EveryNarrowOr16BitFormat, EveryCodeHasTheValueOfItsFields) {
  const ElementFormat& format = GetParam();
  for (std::uint64_t code = 0; code < format.codeCount(); ++code) {
    const double expected = fields::value(format, code);
    const double found = decode(format, code);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(found)) << code;
    else
      EXPECT_EQ(std::bit_cast<std::uint64_t>(found), std::bit_cast<std::uint64_t>(expected))
          << code << ": " << found << ", expected " << expected;
  }
}

TEST_P(EveryNarrowOr16BitFormat, EveryValueReturnsToItsCode) {
  const ElementFormat& format = GetParam();
  for (std::uint64_t code = 0; code < format.codeCount(); ++code) {
    const double value = fields::value(format, code);
    if (std::isnan(value))
      continue;
    EXPECT_EQ(encode(format, value), code) << value;
    EXPECT_EQ(convert(format, value), code) << value;
    EXPECT_EQ(decode(format, convert(format, value)), value);
  }
}

TEST_P(EveryNarrowOr16BitFormat, BitsAboveTheWidthAreIgnored) {
  const ElementFormat& format = GetParam();
  const std::uint64_t above = ~std::uint64_t{0} << format.width();
  EXPECT_EQ(decode(format, above | format.maxCode()), decode(format, format.maxCode()));
}

TEST(ConversionTest, WideFormatsDecodeAsTheMachineDoes) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t bits = random();
    const double f64 = std::bit_cast<double>(bits);
    const float f32 = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(f64)) {
      EXPECT_EQ(decode(element("f64"), bits), f64);
      EXPECT_EQ(encode(element("f64"), f64), bits);
    }
    if (!std::isnan(f32)) {
      EXPECT_EQ(decode(element("f32"), bits & 0xFFFFFFFF), f32);
      EXPECT_EQ(encode(element("f32"), f32), bits & 0xFFFFFFFF);
    }
  }
}

// Values and bit patterns printed in the StableHLO RFC of 2024-08-08, OCP FP8 1.0 (table 2) and
// OCP MX 1.0 (tables 2 and 4 to 7).
TEST(ConversionTest, LimitsPrintedInTheDocuments) {
  struct Limit {
    const ElementFormat& format;
    std::uint64_t code;
    double value;
  };
  const double e4m3 = std::exp2(-6), e3m4 = 0.25, e5m2 = std::exp2(-14);
  for (const auto& [format, code, value] : {
           Limit{element("e4m3"), 0b0'1110'111, 240},
           {element("e4m3"), 0b1'1110'111, -240},
           {element("e4m3"), 0b0'0001'000, e4m3},
           {element("e4m3"), 0b0'0000'001, e4m3 / 8},
           {element("e4m3"), 0b0'0000'111, e4m3 * 7 / 8},
           {element("e4m3"), 0b0'1111'000, kInf},
           {element("e4m3"), 0b1'1111'000, -kInf},
           {element("e4m3fn"), 0b0'1111'110, 448},
           {element("e4m3fn"), 0b0'0001'000, e4m3},
           {element("e4m3fn"), 0b0'0000'001, e4m3 / 8},
           {element("e4m3fn"), 0b0'0000'111, e4m3 * 7 / 8},
           {element("e3m4"), 0b0'110'1111, 15.5},
           {element("e3m4"), 0b0'001'0000, e3m4},
           {element("e3m4"), 0b0'000'0001, e3m4 / 16},
           {element("e3m4"), 0b0'000'1111, e3m4 * 15 / 16},
           {element("e3m4"), 0b0'111'0000, kInf},
           {element("e5m2"), 0b0'11110'11, 57344},
           {element("e5m2"), 0b0'00001'00, e5m2},
           {element("e5m2"), 0b0'00000'01, e5m2 / 4},
           {element("e5m2"), 0b0'00000'11, e5m2 * 3 / 4},
           {element("e5m2"), 0b0'11111'00, kInf},
           {element("e3m2fn"), 0b0'111'11, 28},
           {element("e3m2fn"), 0b0'001'00, 0.25},
           {element("e3m2fn"), 0b0'000'11, 0.1875},
           {element("e3m2fn"), 0b0'000'01, 0.0625},
           {element("e2m3fn"), 0b0'11'111, 7.5},
           {element("e2m3fn"), 0b0'01'000, 1},
           {element("e2m3fn"), 0b0'00'111, 0.875},
           {element("e2m3fn"), 0b0'00'001, 0.125},
           {element("e2m1fn"), 0b0'11'1, 6},
           {element("e2m1fn"), 0b0'01'0, 1},
           {element("e2m1fn"), 0b0'00'1, 0.5},
           {element("int8"), 0x7F, 1.984375},
           {element("int8"), 0x81, -1.984375},
           {element("int8"), 0x80, -2},
           {element("int8"), 0x01, 0.015625},
           {element("e8m0fnu"), 0x00, std::exp2(-127)},
           {element("e8m0fnu"), 0x7F, 1},
           {element("e8m0fnu"), 0xFE, std::exp2(127)},
           {element("e4m3fnuz"), 0x7F, 240},
           {element("e4m3fnuz"), 0x01, std::exp2(-10)},
           {element("e5m2fnuz"), 0x7F, 57344},
           {element("e5m2fnuz"), 0x01, std::exp2(-17)},
           {element("e4m3b11fnuz"), 0x7F, 30},
           {element("e4m3b11fnuz"), 0x01, std::exp2(-13)},
           {element("cfloat8_1_4_3"), 0b0'1111'111, 480},
           {element("cfloat8_1_4_3"), 0b1'1111'000, -256},
           {element("cfloat8_1_4_3"), 0b0'0001'000, e4m3},
           {element("cfloat8_1_4_3"), 0b0'0000'111, e4m3 * 7 / 8},
           {element("cfloat8_1_5_2"), 0b0'11111'11, 114688},
           {element("cfloat8_1_5_2"), 0b1'11111'00, -65536},
           {element("cfloat8_1_5_2"), 0b0'00001'00, e5m2},
           {element("cfloat8_1_5_2"), 0b0'00000'11, e5m2 * 3 / 4},
       }) {
    EXPECT_EQ(decode(format, code), value) << format.name << " " << code;
    EXPECT_EQ(convert(format, value), code) << format.name << " " << value;
  }
}

TEST(ConversionTest, NamedLimits) {
  EXPECT_EQ(maxValue(element("e4m3fn")), 448);
  EXPECT_EQ(minNormal(element("e4m3fn")), 0x1p-6);
  EXPECT_EQ(minPositive(element("e4m3fn")), 0x1p-9);
  EXPECT_EQ(maxValue(element("e8m0fnu")), 0x1p127);
  EXPECT_EQ(minPositive(element("e8m0fnu")), 0x1p-127);
  EXPECT_EQ(maxValue(element("int8")), 127.0 / 64);
  EXPECT_EQ(minPositive(element("int8")), 1.0 / 64);
  EXPECT_EQ(maxValue(element("f32")), std::numeric_limits<float>::max());
  EXPECT_EQ(minPositive(element("f32")), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(maxValue(element("f64")), std::numeric_limits<double>::max());
  EXPECT_EQ(minPositive(element("f64")), std::numeric_limits<double>::denorm_min());
}

// N2: one rounding, whatever the source.
TEST(ConversionTest, F64IsRoundedOnce) {
  // Through f32 the bit beyond the tie is lost; through f16 too.
  EXPECT_EQ(round(element("e4m3fn"), 1.0625 + 0x1p-40), 1.125);
  EXPECT_EQ(round(element("e2m1fn"), 0.25 + 0x1p-30), 0.5);
  EXPECT_EQ(round(element("bf16"), 1 + 0x1p-8 + 0x1p-50), 1 + 0x1p-7);
  EXPECT_TRUE(std::isnan(round(element("e4m3fn"), 464 + 0x1p-40)));
  EXPECT_EQ(round(element("e4m3fn"), 464), 448);
}

// N3: NaN.
TEST(ConversionTest, NanKeepsItsSignWhereTheFormatHasOne) {
  const double negative = std::copysign(kNan, -1.0);
  EXPECT_EQ(convert(element("e4m3fn"), kNan), 0x7Fu);
  EXPECT_EQ(convert(element("e4m3fn"), negative), 0xFFu);
  EXPECT_EQ(convert(element("e5m2"), kNan), 0x7Eu);
  EXPECT_EQ(convert(element("e5m2"), negative), 0xFEu);
  EXPECT_EQ(convert(element("f32"), negative), 0xFFC00000u);
  EXPECT_EQ(convert(element("e4m3fnuz"), negative), 0x80u);
  EXPECT_EQ(convert(element("e8m0fnu"), negative), 0xFFu);
}

TEST(ConversionTest, NanWhereTheFormatHasNone) {
  const double negative = std::copysign(kNan, -1.0);
  const Conversion maximum{.nan = NanCode::Maximum};
  for (const char* name : {"e2m1fn", "e2m3fn", "e3m2fn"}) {
    const ElementFormat& format = *format::findElementFormat(name);
    EXPECT_EQ(convert(format, kNan), format.signMask()) << name;
    EXPECT_EQ(convert(format, negative), 0u) << name;
    EXPECT_EQ(convert(format, kNan, maximum), format.maxCode()) << name;
    EXPECT_EQ(convert(format, negative, maximum), *format.lowestCode()) << name;
  }
  EXPECT_EQ(convert(element("int8"), kNan), 0x7Fu);
  EXPECT_EQ(convert(element("int8"), negative), 0x80u);
}

// N6: overflow. OCP FP8 1.0, table 3 in both modes; OCP MX 5.3.2 to 5.3.4.
TEST(ConversionTest, OverflowAnswers) {
  const Conversion saturate{.overflow = Overflow::Saturate};
  for (double big : {1e30, double{kInf}}) {
    EXPECT_EQ(convert(element("e4m3fn"), big), 0x7Fu);
    EXPECT_EQ(convert(element("e4m3fn"), -big), 0xFFu);
    EXPECT_EQ(convert(element("e4m3fn"), big, saturate), 0x7Eu);
    EXPECT_EQ(convert(element("e4m3fn"), -big, saturate), 0xFEu);
    EXPECT_EQ(convert(element("e5m2"), big), 0x7Cu);
    EXPECT_EQ(convert(element("e5m2"), -big, saturate), 0xFBu);
    EXPECT_EQ(convert(element("e4m3fnuz"), -big), 0x80u);
    EXPECT_EQ(convert(element("e2m1fn"), -big), 0xFu);
    EXPECT_EQ(convert(element("e3m2fn"), big, saturate), 0x1Fu);
    EXPECT_EQ(convert(element("int8"), big), 0x7Fu);
    EXPECT_EQ(convert(element("int8"), -big), 0x80u);
    EXPECT_EQ(convert(element("e8m0fnu"), big), big == kInf ? 0xFFu : 227u);
    EXPECT_EQ(convert(element("e8m0fnu"), big, saturate), big == kInf ? 0xFEu : 227u);
  }
}

TEST(ConversionTest, DirectedRoundingStopsAtTheLimitOnItsSide) {
  const Conversion zero{.rounding = Rounding::TowardZero};
  const Conversion up{.rounding = Rounding::TowardPositive};
  const Conversion down{.rounding = Rounding::TowardNegative};
  const ElementFormat& e5m2 = element("e5m2");
  EXPECT_EQ(round(e5m2, 1e30, zero), 57344);
  EXPECT_EQ(round(e5m2, -1e30, zero), -57344);
  EXPECT_EQ(round(e5m2, 57345, up), kInf);
  EXPECT_EQ(round(e5m2, 57345, down), 57344);
  EXPECT_EQ(round(e5m2, -57345, up), -57344);
  EXPECT_EQ(round(e5m2, -57345, down), -kInf);
  EXPECT_EQ(round(e5m2, kInf, zero), kInf); // infinity is not rounded
}

TEST(ConversionTest, OverflowsIsAskedOfTheRoundedValue) {
  const ElementFormat& e4m3 = element("e4m3fn");
  EXPECT_FALSE(overflows(e4m3, 464));
  EXPECT_TRUE(overflows(e4m3, std::nextafter(464, 500)));
  EXPECT_TRUE(overflows(e4m3, 464, {.rounding = Rounding::TiesToAway}));
  EXPECT_FALSE(overflows(e4m3, -479, {.rounding = Rounding::TowardZero}));
  EXPECT_TRUE(overflows(e4m3, -480, {.rounding = Rounding::TowardZero}));
  EXPECT_FALSE(overflows(e4m3, kInf));
  EXPECT_FALSE(overflows(e4m3, kNan));
  EXPECT_FALSE(overflows(e4m3, 0));
  EXPECT_FALSE(overflows(element("int8"), -2));
  EXPECT_FALSE(overflows(element("int8"), -2 - 0x1p-8)); // rounds to -2
  EXPECT_TRUE(overflows(element("int8"), 2));
  EXPECT_FALSE(overflows(element("e8m0fnu"), -1));
  EXPECT_TRUE(overflows(element("e8m0fnu"), 0x1.8p127));
}

// N7: E8M0.
TEST(ConversionTest, ScalesFromNumbersThatAreNone) {
  const ElementFormat& e8m0 = element("e8m0fnu");
  for (double none : {0.0, -0.0, -1.0, -double{kInf}, double{kNan}})
    EXPECT_EQ(convert(e8m0, none), 0xFFu) << none;
  EXPECT_EQ(convert(e8m0, 0x1p-149), 0u);
  EXPECT_EQ(convert(e8m0, std::numeric_limits<double>::denorm_min()), 0u);
}

TEST(ConversionTest, ScaleTiesGoUp) {
  const ElementFormat& e8m0 = element("e8m0fnu");
  EXPECT_EQ(round(e8m0, 1.5), 2);
  EXPECT_EQ(round(e8m0, 3), 4);
  EXPECT_EQ(round(e8m0, 6), 8);
  EXPECT_EQ(round(e8m0, std::nextafter(3.0, 0.0)), 2);
  EXPECT_EQ(convert(e8m0, 0x1.8p127), 0xFFu);
  EXPECT_EQ(convert(e8m0, 0x1.7FFFFp127), 0xFEu);
  EXPECT_EQ(convert(e8m0, 0x1.8p127, {.overflow = Overflow::Saturate}), 0xFEu);
}

TEST(ConversionTest, BetweenTheTwoSmallestScalesNearestGoesUp) {
  const ElementFormat& e8m0 = element("e8m0fnu");
  EXPECT_EQ(convert(e8m0, 0x1p-127), 0u);
  EXPECT_EQ(convert(e8m0, std::nextafter(0x1p-127, 1.0)), 1u);
  EXPECT_EQ(convert(e8m0, 0x1.4p-127), 1u);
  EXPECT_EQ(convert(e8m0, 0x1.4p-127, {.rounding = Rounding::TowardZero}), 0u);
  EXPECT_EQ(convert(e8m0, 0x1.4p-127, {.rounding = Rounding::TiesToAway}), 0u);
  EXPECT_EQ(convert(e8m0, 0x1.4p-126), 1u);
}

// N9: integers.
TEST(ConversionTest, IntegersThatADoubleWouldRoundFirst) {
  // f32 spacing at 2^60 is 2^37: just above the tie. A double's spacing there is 2^8.
  const std::uint64_t aboveTie = (std::uint64_t{1} << 60) + (std::uint64_t{1} << 36) + 1;
  EXPECT_EQ(decode(element("f32"), convertInteger(element("f32"), false, aboveTie)),
            0x1p60 + 0x1p37);
  EXPECT_EQ(decode(element("f32"), convertInteger(element("f32"), true, aboveTie)),
            -0x1p60 - 0x1p37);
  EXPECT_EQ(decode(element("f32"), convertInteger(element("f32"), false, aboveTie - 1)), 0x1p60);
  EXPECT_EQ(decode(element("bf16"), convertInteger(element("bf16"), false,
                                                   (std::uint64_t{1} << 63) + (1ull << 55) + 1)),
            0x1p63 + 0x1p56);
  const std::uint64_t all = ~std::uint64_t{0};
  EXPECT_EQ(decode(element("f64"), convertInteger(element("f64"), false, all)), 0x1p64);
  EXPECT_EQ(decode(element("f64"),
                   convertInteger(element("f64"), false, all, {.rounding = Rounding::TowardZero})),
            0x1.FFFFFFFFFFFFFp63);
  EXPECT_EQ(convertInteger(element("f16"), false, all), 0x7C00u);
  EXPECT_EQ(convertInteger(element("int8"), true, all), 0x80u);
  EXPECT_EQ(convertInteger(element("e8m0fnu"), false, all), 127u + 64);
  EXPECT_EQ(convertInteger(element("e8m0fnu"), true, all), 0xFFu);
  EXPECT_EQ(convertInteger(element("e8m0fnu"), false, 0), 0xFFu);
  EXPECT_EQ(convertInteger(element("f32"), false, 0), 0u);
}

TEST(ConversionTest, RandomWideIntegersAgainstTheMachine) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t magnitude = random() >> (random() % 64);
    // The machine's own u64 to f32 and u64 to f64 round once, to nearest even.
    EXPECT_EQ(convertInteger(element("f32"), false, magnitude),
              std::bit_cast<std::uint32_t>(static_cast<float>(magnitude)));
    EXPECT_EQ(convertInteger(element("f64"), true, magnitude | 1),
              std::bit_cast<std::uint64_t>(-static_cast<double>(magnitude | 1)));
    if (magnitude < std::uint64_t{1} << 53)
      for (const char* name : {"e4m3fn", "e5m2", "bf16", "f16", "e2m1fn", "e8m0fnu"}) {
        const ElementFormat& format = *format::findElementFormat(name);
        EXPECT_EQ(convertInteger(format, false, magnitude),
                  convert(format, static_cast<double>(magnitude)));
      }
  }
}

TEST(ConversionTest, WideIntegersRoundStochasticallyByTheWholeRemainder) {
  // 40 bits below f32's unit: r decides by its comparison with all of them.
  const std::uint64_t half = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 39);
  const auto up = [&](std::uint64_t magnitude, std::uint32_t r) {
    return decode(element("f32"),
                  convertInteger(element("f32"), false, magnitude,
                                 {.rounding = Rounding::Stochastic, .randomBits = r})) > 0x1p63;
  };
  EXPECT_TRUE(up(half, 0x7FFFFFFF));
  EXPECT_FALSE(up(half, 0x80000000));
  EXPECT_TRUE(up(half + 1, 0x80000000));
  EXPECT_FALSE(up(half - 1, 0x80000000));
  EXPECT_FALSE(up(std::uint64_t{1} << 63, 0));
}

// N10: reduce_precision.
TEST(ConversionTest, ReducePrecision) {
  const auto reduce = [](double value, int e, int m) {
    return reducePrecision(element("f32"), value, e, m);
  };
  EXPECT_EQ(reduce(1.125, 5, 2), 1);   // tie to even
  EXPECT_EQ(reduce(1.375, 5, 2), 1.5); // tie to even
  EXPECT_EQ(reduce(-1.375, 5, 2), -1.5);
  EXPECT_EQ(reduce(65519, 5, 10), 65504);
  EXPECT_EQ(reduce(65520, 5, 10), kInf);
  EXPECT_EQ(reduce(-65520, 5, 10), -kInf);
  EXPECT_EQ(reduce(0x1p-14, 5, 10), 0x1p-14);
  // Below the smallest normal exponent: zero, not a subnormal. Decided after rounding.
  EXPECT_EQ(reduce(0x1.FFp-15, 5, 10), 0);
  EXPECT_TRUE(std::signbit(reduce(-0x1p-15, 5, 10)));
  EXPECT_EQ(reduce(0x1.FFFp-15, 5, 10), 0x1p-14);
  // No trailing bits: powers of two; a tie goes to the even exponent field, as in XLA.
  EXPECT_EQ(reduce(1.5, 8, 0), 2);
  EXPECT_EQ(reduce(1.25, 8, 0), 1);
  EXPECT_EQ(reduce(3, 8, 0), 2);
  EXPECT_EQ(reduce(std::nextafter(3.0f, 4.0f), 8, 0), 4);
  EXPECT_EQ(reduce(6, 8, 0), 8);
  // e4m3-like: IEEE, so its largest is 240.
  EXPECT_EQ(reduce(247, 4, 3), 240);
  EXPECT_EQ(reduce(248, 4, 3), kInf);
  // One exponent bit has no finite number but zero.
  EXPECT_EQ(reduce(1, 1, 10), 0);
  EXPECT_EQ(reduce(2, 1, 10), kInf);
  // As wide as the source: nothing changes; f32's own subnormals stay.
  EXPECT_EQ(reduce(0x1p-149, 8, 23), 0x1p-149);
  EXPECT_EQ(reduce(0x1p-149, 11, 52), 0x1p-149);
  EXPECT_EQ(reduce(0x1.8p-127, 8, 7), 0x1.8p-127);
  EXPECT_EQ(reduce(0x1p-149, 8, 7), 0);
  EXPECT_EQ(reduce(std::numeric_limits<float>::max(), 8, 7), kInf);
  for (double kept : {0.0, -0.0, double{kInf}, -double{kInf}})
    EXPECT_EQ(std::bit_cast<std::uint64_t>(reduce(kept, 2, 0)), std::bit_cast<std::uint64_t>(kept));
  EXPECT_TRUE(std::isnan(reduce(kNan, 2, 0)));
}

TEST(ConversionTest, ReducePrecisionToAFormatsWidthsIsItsConversionButForSubnormals) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 100000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(value))
      continue;
    for (const char* name : {"e5m2", "e4m3", "e3m4", "f16", "bf16"}) {
      const ElementFormat& format = *format::findElementFormat(name);
      const double reduced = reducePrecision(element("f32"), value, format.exponentBits,
                                             format.trailingSignificandBits);
      // A significand of all ones and more rounds up to the smallest normal value.
      const double edge = minNormal(format) * (1 - std::exp2(-format.trailingSignificandBits - 2));
      if (std::fabs(value) >= minNormal(format))
        EXPECT_EQ(reduced, round(format, value)) << name << " " << value;
      else if (format.exponentBits < 8)
        EXPECT_EQ(std::fabs(reduced), std::fabs(value) >= edge ? minNormal(format) : 0)
            << name << " " << value;
    }
  }
}

TEST(ConversionTest, Names) {
  for (const char* name : {"ties-to-even", "ties-to-away", "toward-zero", "toward-positive",
                           "toward-negative", "stochastic"}) {
    ASSERT_TRUE(findRounding(name)) << name;
    EXPECT_EQ(roundingName(*findRounding(name)), name);
  }
  for (const char* name : {"saturate", "special"}) {
    ASSERT_TRUE(findOverflow(name)) << name;
    EXPECT_EQ(overflowName(*findOverflow(name)), name);
  }
  EXPECT_EQ(findRounding("nearest"), std::nullopt);
  EXPECT_EQ(findOverflow("inf"), std::nullopt);
}

// Seed number of the RFC: iota(8) . iota(8) is 140, and f8E4M3 has 136 and 144 on either side.
TEST(ConversionTest, SumOfSquaresOfTheRfc) { EXPECT_EQ(round(element("e4m3"), 140), 144); }

} // namespace
} // namespace octavo::numerics
