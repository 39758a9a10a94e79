// The five rules for a power-of-two scale against their owners' bit formulas, and the scales of
// formats that have a significand (S3 to S6 of docs/semantics.md).

#include "octavo/Numerics/Scaled.h"

#include "octavo/Numerics/FieldValues.h"
#include "octavo/Numerics/TestConstants.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace octavo::numerics {
namespace {

using format::element;

constexpr ScaleRule kRules[] = {ScaleRule::Floor, ScaleRule::Ceil, ScaleRule::Even,
                                ScaleRule::RoundUp, ScaleRule::Nearest};

int byte(const ElementFormat& format, ScaleRule rule, float amax) {
  return static_cast<int>(scaleCode(format, element("e8m0fnu"), rule, amax));
}

/// The formats that have power-of-two scales in practice; others are tested by their fields too.
std::vector<ElementFormat> elements() {
  std::vector<ElementFormat> rows = fields::formatsUpTo(8);
  std::erase_if(rows, [](const ElementFormat& row) { return !row.hasZero(); });
  return rows;
}

/// Largest value of a format and exponent of its largest power of two, found by looking.
struct Largest {
  double value = 0;
  int exponent;
};
Largest largest(const ElementFormat& format) {
  Largest result;
  for (std::uint64_t code = 0; code < format.codeCount(); ++code) {
    const double value = fields::value(format, code);
    if (std::isfinite(value) && !(code & format.signMask()))
      result.value = std::max(result.value, value);
  }
  result.exponent = std::ilogb(result.value);
  return result;
}

int clampedByte(int exponent) { return std::clamp(exponent + 127, 0, 254); }

class EveryElement : public testing::TestWithParam<ElementFormat> {};
INSTANTIATE_TEST_SUITE_P(ScaleRuleTest, EveryElement, testing::ValuesIn(elements()),
                         fields::testName);

/// The rules as their owners state them, on the bits of a normal f32 amax: torchao's to_mx (floor,
/// ceil, even), cuBLAS and Transformer Engine (round up), XLA's __op$quantize (nearest).
int byteFromBits(const ElementFormat& format, ScaleRule rule, float amax) {
  const auto [max, emax] = largest(format);
  const auto bits = std::bit_cast<std::uint32_t>(amax);
  const auto exponentOf = [](std::uint32_t b) { return static_cast<int>(b >> 23) - 127; };
  const auto trailingOf = [](std::uint32_t b) { return b & 0x7FFFFF; };
  // INT8 has six bits below its leading one (OCP MX 5.3.4).
  const int trailing = format.trailingSignificandBits - (format.isInteger() ? 1 : 0);
  switch (rule) {
  case ScaleRule::Floor:
    return clampedByte(exponentOf(bits) - emax);
  case ScaleRule::Ceil:
    return clampedByte(exponentOf(bits) + (trailingOf(bits) != 0) - emax);
  case ScaleRule::Even:
    return clampedByte(exponentOf(bits + (1u << (22 - trailing))) - emax);
  case ScaleRule::RoundUp: {
    const auto d = std::bit_cast<std::uint32_t>(amax * static_cast<float>(1 / max));
    if (d < 0x00800000) // subnormal: 2^-127 and less need the smallest scale, more the next
      return d <= 0x00400000 ? 0 : 1;
    return clampedByte(exponentOf(d) + (trailingOf(d) != 0));
  }
  case ScaleRule::Nearest:
    if (exponentOf(bits) - emax == -127) // between the two smallest scales it goes up
      return trailingOf(bits) != 0;
    return clampedByte(exponentOf(bits + 0x400000) - emax);
  }
  return -1;
}

TEST_P(EveryElement, RulesAgreeWithTheirOwnersBitFormulas) {
  std::mt19937 random(17);
  std::vector<float> inputs = {1, 448, 6, 7.5, 28, 57344, 1.984375, 150, 0x1p-126f, kMax};
  for (int exponent = -126; exponent <= 127; ++exponent)
    for (double m : {1.0, 1.25, 1.5, 1.75, 1.875, 1.9375, 1.96875, 1.984375, 1.9921875}) {
      const auto edge = static_cast<float>(std::ldexp(m, exponent));
      inputs.insert(inputs.end(), {edge, std::nextafter(edge, 0.0f), std::nextafter(edge, kMax)});
    }
  for (int i = 0; i < 20000; ++i)
    inputs.push_back(
        std::bit_cast<float>(static_cast<std::uint32_t>(0x00800000 + random() % 0x7F000000)));
  for (float amax : inputs) {
    if (amax < 0x1p-126f)
      continue;
    for (ScaleRule rule : kRules)
      EXPECT_EQ(byte(GetParam(), rule, amax), byteFromBits(GetParam(), rule, amax))
          << format::scaleRuleName(rule) << " " << std::hexfloat << amax;
  }
}

TEST_P(EveryElement, ABlockAtTheLargestValueIsNotBumped) {
  const Largest top = largest(GetParam());
  for (int shift : {-100, -10, 0, 10, 60})
    for (ScaleRule rule : {ScaleRule::Floor, ScaleRule::RoundUp}) {
      const auto amax = static_cast<float>(std::ldexp(top.value, shift));
      EXPECT_EQ(byte(GetParam(), rule, amax), clampedByte(shift)) << format::scaleRuleName(rule);
    }
}

TEST_P(EveryElement, RulesThatNeverSaturate) {
  const Largest top = largest(GetParam());
  std::mt19937 random(23);
  for (int i = 0; i < 20000; ++i) {
    const float amax =
        std::bit_cast<float>(static_cast<std::uint32_t>(0x10000000 + random() % 0x60000000));
    for (ScaleRule rule : {ScaleRule::Ceil, ScaleRule::RoundUp}) {
      const double scale = std::exp2(byte(GetParam(), rule, amax) - 127);
      // Round up multiplies by an f32 reciprocal: within an f32 rounding of the limit.
      EXPECT_LE(amax / scale, top.value * (1 + 0x1p-23))
          << format::scaleRuleName(rule) << " " << amax;
      EXPECT_GT(amax / scale, top.value / 4) << format::scaleRuleName(rule) << " " << amax;
    }
  }
}

// The significand from which each rule takes the next scale (microxcaling, torchao, Quark).
TEST(ScaleRuleTest, Thresholds) {
  struct Row {
    const char* element;
    double largest, even;
  };
  for (const auto& [name, most, even] : {Row{"e4m3fn", 1.75, 1.9375},
                                         {"e5m2", 1.75, 1.875},
                                         {"e3m2fn", 1.75, 1.875},
                                         {"e2m3fn", 1.875, 1.9375},
                                         {"e2m1fn", 1.5, 1.75},
                                         {"int8", 1.984375, 1.9921875}}) {
    const ElementFormat& format = *format::findElementFormat(name);
    SCOPED_TRACE(name);
    for (int k : {-40, 0, 3, 90}) {
      const auto bumps = [&](ScaleRule rule, double m) {
        return byte(format, rule, static_cast<float>(std::ldexp(m, k))) -
               clampedByte(k - format.emax());
      };
      const double ulp = 0x1p-23, more = 0x1p-21;
      EXPECT_EQ(bumps(ScaleRule::Floor, 1), 0);
      EXPECT_EQ(bumps(ScaleRule::Floor, 2 - ulp), 0);
      EXPECT_EQ(bumps(ScaleRule::Ceil, 1), 0);
      EXPECT_EQ(bumps(ScaleRule::Ceil, 1 + ulp), 1);
      EXPECT_EQ(bumps(ScaleRule::Even, even - ulp), 0);
      EXPECT_EQ(bumps(ScaleRule::Even, even), 1);
      EXPECT_EQ(bumps(ScaleRule::RoundUp, most), 0);
      EXPECT_EQ(bumps(ScaleRule::RoundUp, most + more), 1);
      EXPECT_EQ(bumps(ScaleRule::Nearest, 1.5 - ulp), 0);
      EXPECT_EQ(bumps(ScaleRule::Nearest, 1.5), 1);
    }
  }
}

// pytorch/ao issue 2035: the same amax, two owners' "round up".
TEST(ScaleRuleTest, AmaxOf150InE4m3) {
  EXPECT_EQ(byte(element("e4m3fn"), ScaleRule::RoundUp, 150), 126);
  EXPECT_EQ(byte(element("e4m3fn"), ScaleRule::Ceil, 150), 127);
  EXPECT_EQ(byte(element("e4m3fn"), ScaleRule::Floor, 150), 126);
}

TEST(ScaleRuleTest, ZeroAndSubnormalAmaxTakeTheSmallestScale) {
  for (ScaleRule rule : kRules)
    for (const ElementFormat& format : elements()) {
      if (format.emax() < 1)
        continue;
      EXPECT_EQ(byte(format, rule, 0), 0);
      for (float tiny : {0x1p-149f, 0x1.8p-140f, 0x1p-127f})
        EXPECT_EQ(byte(format, rule, tiny), 0)
            << format.name << " " << format::scaleRuleName(rule) << " " << tiny;
    }
}

TEST(ScaleRuleTest, SubnormalAmaxOfInt8) {
  // The largest INT8 value is 127/64, so an amax between the two smallest scales decides.
  const ElementFormat& int8 = element("int8");
  EXPECT_EQ(byte(int8, ScaleRule::Floor, 0x1.8p-127f), 0);
  EXPECT_EQ(byte(int8, ScaleRule::Ceil, 0x1.8p-127f), 1);
  EXPECT_EQ(byte(int8, ScaleRule::Nearest, 0x1.8p-127f), 1);
  EXPECT_EQ(byte(int8, ScaleRule::Nearest, 0x1.4p-127f), 1); // N7
  EXPECT_EQ(byte(int8, ScaleRule::Nearest, 0x1p-127f), 0);
  EXPECT_EQ(byte(int8, ScaleRule::RoundUp, 0x1.8p-127f), 0);
  EXPECT_EQ(byte(int8, ScaleRule::RoundUp, 0x1.8p-126f), 1); // 1.5 / 1.984 > 1/2
}

TEST(ScaleRuleTest, LargestAmax) {
  const ElementFormat& e4m3 = element("e4m3fn");
  EXPECT_EQ(byte(e4m3, ScaleRule::Floor, kMax), 127 + 127 - 8);
  EXPECT_EQ(byte(e4m3, ScaleRule::Even, kMax), 127 + 128 - 8);
  EXPECT_EQ(byte(e4m3, ScaleRule::RoundUp, kMax), 127 + 128 - 8);
  // Where the format itself reaches only 2, the scale is clamped: 0xFF would be NaN.
  const ElementFormat& int8 = element("int8");
  EXPECT_EQ(byte(int8, ScaleRule::Floor, kMax), 254);
  for (ScaleRule rule : {ScaleRule::Ceil, ScaleRule::Even, ScaleRule::RoundUp, ScaleRule::Nearest})
    EXPECT_EQ(byte(int8, rule, kMax), 254) << format::scaleRuleName(rule);
}

// S5: scale formats with a significand.

TEST(ScaleRuleTest, F32ScaleIsAmaxOverTheLargestValue) {
  const auto scale = [](float amax) {
    return std::bit_cast<float>(
        scaleCode(element("e4m3fn"), element("f32"), ScaleRule::Nearest, amax));
  };
  EXPECT_EQ(scale(448), 1.0f);
  EXPECT_EQ(scale(1), 1.0f / 448.0f);
  EXPECT_EQ(scale(kMax), kMax / 448.0f);
  EXPECT_EQ(scale(0), 1.0f);
  EXPECT_EQ(scale(0x1p-149f), 0x1p-149f); // the quotient is 0 in f32
}

TEST(ScaleRuleTest, E4m3ScaleRoundsAndStaysPositive) {
  const auto scale = [](float amax, float outer) {
    return decode(element("e4m3fn"),
                  scaleCode(element("e2m1fn"), element("e4m3fn"), ScaleRule::Nearest, amax, outer));
  };
  EXPECT_EQ(scale(6, 1), 1);
  EXPECT_EQ(scale(12, 2), 1);
  EXPECT_EQ(scale(6 * 1.0625f, 1), 1);    // tie to even
  EXPECT_EQ(scale(6 * 1.1875f, 1), 1.25); // tie to even
  EXPECT_EQ(scale(6 * 448, 1), 448);
  EXPECT_EQ(scale(6 * 500, 1), 448);  // never NaN
  EXPECT_EQ(scale(1e-6f, 1), 0x1p-9); // never 0
  EXPECT_EQ(scale(0, 1), 1);
  EXPECT_EQ(scale(0, 0.01f), 1);
}

// S17: d of round-up beyond f16's range is Inf there and above every scale; max / amax, whose
// exponent is negated, is then 0, and Inf below f16's 1 / 65504.
TEST(ScaleRuleTest, RatiosBeyondTheInputsTypeTakeTheLastScales) {
  const ScaledType type{&element("e2m1fn"), &element("e8m0fnu"), {32}};
  const auto code = [&](BlockRatio ratio, ExponentForm exponent, float amax) {
    const QuantizeOptions options = {.rule = ScaleRule::RoundUp,
                                     .ratio = ratio,
                                     .exponent = exponent,
                                     .inInputType = {.ratio = true},
                                     .input = &element("f16")};
    return blockScale(type, options, {.amax = amax}, {}).code;
  };
  for (const ExponentForm exponent : {ExponentForm::Bits, ExponentForm::Log2}) {
    EXPECT_EQ(code(BlockRatio::Standard, exponent, 6 * 4.0f), 129u);
    EXPECT_EQ(code(BlockRatio::Standard, exponent, kMax), 254u);
    EXPECT_EQ(code(BlockRatio::Quotient, exponent, 0x1p20f), 254u);
  }
  EXPECT_EQ(code(BlockRatio::Inverted, ExponentForm::Bits, 6 * 4.0f), 129u);
  EXPECT_EQ(code(BlockRatio::Inverted, ExponentForm::Bits, 0x1p60f), 254u);
  EXPECT_EQ(code(BlockRatio::Inverted, ExponentForm::Bits, 0x1p-60f), 0u);
}

// S6: the outer scale.
TEST(ScaleRuleTest, OuterScaleOfNvfp4) {
  const auto outer = [](float amax) {
    return outerScale(element("e2m1fn"), element("e4m3fn"), amax);
  };
  EXPECT_EQ(outer(2688), 1.0f);
  EXPECT_EQ(outer(1), 1.0f / 2688.0f);
  EXPECT_EQ(outer(0), 1.0f);
  EXPECT_EQ(outer(0x1p-149f), 1.0f);
  EXPECT_EQ(outer(kMax), kMax / 2688.0f);
}

} // namespace
} // namespace octavo::numerics
