// Quantize and dequantize: elements under a scale, blocks of any shape, non-finite inputs (S1, S2,
// S7 to S10 of docs/semantics.md).

#include "octavo/Numerics/Scaled.h"

#include "octavo/Numerics/FieldValues.h"
#include "octavo/Numerics/Saturation.h"
#include "octavo/Numerics/TestConstants.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace octavo::numerics {
namespace {

using format::element;
using Shape = std::vector<std::int64_t>;
using Values = std::vector<float>;
using Codes = std::vector<std::uint8_t>;
using Scales = std::vector<std::uint32_t>;

const float kNan = std::numeric_limits<float>::quiet_NaN();

ScaledType mx(std::string_view name, Shape block) {
  return {format::findElementFormat(name), &element("e8m0fnu"), std::move(block)};
}
ScaledType nvfp4(Shape block) {
  return {&element("e2m1fn"), &element("e4m3fn"), std::move(block), true};
}

// S1: dequantize.

TEST(ScaledTest, DequantizeIsOneProductRoundedOnce) {
  const ScaledType e4m3 = mx("e4m3fn", {32});
  EXPECT_EQ(dequantizeElement(e4m3, 127, 1, 0x7E), 448);
  EXPECT_EQ(dequantizeElement(e4m3, 0, 1, 0x38), 0x1p-127f);
  EXPECT_EQ(dequantizeElement(e4m3, 0, 1, 0x01), 0x1p-136f); // a subnormal of f32
  EXPECT_EQ(dequantizeElement(e4m3, 254, 1, 0x30), 0x1p126f);
  EXPECT_EQ(dequantizeElement(e4m3, 254, 1, 0x40), kInf); // beyond f32 (OCP MX 5.1: implementation)
  EXPECT_EQ(dequantizeElement(e4m3, 254, 1, 0xC0), -kInf);
  EXPECT_TRUE(std::signbit(dequantizeElement(e4m3, 127, 1, 0x80)));
  // E5M2's smallest, 2^-16, under 2^-127 is 2^-143; f32 still holds it.
  EXPECT_EQ(dequantizeElement(mx("e5m2", {32}), 0, 1, 0x01), 0x1p-143f);
  // 3 * 2^-9 * 2^-149: below half of f32's smallest, so 0; a tie at 2^-150 goes to even.
  const ScaledType f32 = {&element("e4m3fn"), &element("f32"), {32}};
  EXPECT_EQ(dequantizeElement(f32, 1, 1, 0x03), 0);
  EXPECT_EQ(dequantizeElement(f32, 1, 1, 0x30), 0);         // 0.5 units
  EXPECT_EQ(dequantizeElement(f32, 1, 1, 0x3C), 0x1p-148f); // 1.5 units
  // 1.25 * (1 + 2^-23) is a tie in f32 that goes to even.
  EXPECT_EQ(dequantizeElement(f32, std::bit_cast<std::uint32_t>(0x1.000006p0f), 1, 0x3A),
            static_cast<float>(1.25 * 0x1.000006p0));
  EXPECT_EQ(dequantizeElement(nvfp4({16}), 0x38, 0.1f, 0x7), static_cast<float>(6.0 * 0.1f));
  // Scale and outer scale are not rounded together first.
  const float outer = 0x1.FFFFFEp-1f;
  EXPECT_EQ(dequantizeElement(nvfp4({16}), 0x3D, outer, 0x5),
            static_cast<float>(3.0 * 1.625 * static_cast<double>(outer)));
}

TEST(ScaledTest, NanScaleAndNonFiniteElements) {
  const ScaledType e5m2 = mx("e5m2", {32});
  for (int code : {0x00, 0x3C, 0x7C, 0x7E, 0xFF})
    EXPECT_TRUE(std::isnan(dequantizeElement(e5m2, 0xFF, 1, static_cast<std::uint8_t>(code))));
  EXPECT_EQ(dequantizeElement(e5m2, 0, 1, 0x7C), kInf);
  EXPECT_EQ(dequantizeElement(e5m2, 0, 1, 0xFC), -kInf);
  EXPECT_TRUE(std::isnan(dequantizeElement(e5m2, 10, 1, 0x7E)));
  EXPECT_TRUE(std::isnan(dequantizeElement(nvfp4({16}), 0x7F, 1, 0)));
}

// S7: elements.

// microxcaling's golden block (its default rounding is ties away): tests/test_fp8_e4m3_fix.py.
TEST(ScaledTest, GoldenBlockOfMicroxcaling) {
  const Values x = {485, 475, 400, -485, -475, -450, 0x1p-6f, -0x1p-6f};
  QuantizeOptions away{.rounding = Rounding::TiesToAway};
  EXPECT_EQ(dequantize(quantize(x, Shape{8}, mx("e4m3fn", {8}), away).tensor),
            (Values{448, 448, 416, -448, -448, -448, 0x1p-6f, -0x1p-6f}));
  EXPECT_EQ(dequantize(quantize(x, Shape{8}, mx("e4m3fn", {8}), {}).tensor),
            (Values{448, 448, 384, -448, -448, -448, 0x1p-6f, -0x1p-6f}));
}

TEST(ScaledTest, Fp4Thresholds) {
  // Round to nearest even (compressed-tensors, fp4_utils): 0.25 -> 0, 0.75 -> 1, 1.25 -> 1, ...
  const Values x = {6, 0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5};
  const QuantizeResult result = quantize(x, Shape{8}, mx("e2m1fn", {8}), {});
  EXPECT_EQ(result.tensor.scales, Scales{127});
  EXPECT_EQ(dequantize(result.tensor), (Values{6, 0, 1, 1, 2, 2, 4, 4}));
  EXPECT_EQ(result.tensor.elements, (Codes{7, 0, 2, 2, 4, 4, 6, 6}));
}

TEST(ScaledTest, SubnormalInputsAreScaledExactly) {
  // Byte 0 is 2^-127; 2^-130 under it is 0.125 and 2^-149 is 2^-22, below half of 2^-9.
  const Values x = {0x1p-130f, -0x1p-130f, 0x1p-149f, 0};
  const QuantizeResult result = quantize(x, Shape{4}, mx("e4m3fn", {4}), {});
  EXPECT_EQ(result.tensor.scales, Scales{0});
  EXPECT_EQ(dequantize(result.tensor), (Values{0x1p-130f, -0x1p-130f, 0, 0}));
}

TEST(ScaledTest, LargestInputs) {
  const QuantizeResult result = quantize(Values{kMax, -kMax}, Shape{2}, mx("e4m3fn", {2}), {});
  EXPECT_EQ(result.tensor.scales, Scales{127 + 119});
  EXPECT_EQ(dequantize(result.tensor), (Values{0x1.Cp127f, -0x1.Cp127f}));
  EXPECT_EQ(result.saturated, 2);
  const QuantizeResult up =
      quantize(Values{kMax, -kMax}, Shape{2}, mx("e4m3fn", {2}), {.rule = ScaleRule::RoundUp});
  EXPECT_EQ(dequantize(up.tensor), (Values{kInf, -kInf})); // 256 * 2^120 is beyond f32
  EXPECT_EQ(up.saturated, 0);
}

TEST(ScaledTest, SpecialOverflowOfElements) {
  const QuantizeOptions special{.overflow = Overflow::Special};
  // 500 under scale 1 is beyond 464.
  EXPECT_EQ(quantize(Values{500}, Shape{1}, mx("e4m3fn", {1}), special).tensor.elements,
            Codes{0x7F});
  EXPECT_EQ(quantize(Values{65000}, Shape{1}, mx("e5m2", {1}), special).tensor.elements,
            Codes{0x7C});
}

TEST(ScaledTest, NegativeZeroKeepsItsSignWhereItCan) {
  const Values x = {-0.0f, 1};
  EXPECT_EQ(quantize(x, Shape{2}, mx("e2m1fn", {2}), {}).tensor.elements[0], 0x8);
  EXPECT_EQ(quantize(x, Shape{2}, mx("int8", {2}), {}).tensor.elements[0], 0);
  EXPECT_EQ(quantize(x, Shape{2}, mx("e4m3fnuz", {2}), {}).tensor.elements[0], 0);
}

TEST(ScaledTest, ZeroBlocks) {
  const Values zeros(4, 0.0f);
  EXPECT_EQ(quantize(zeros, Shape{4}, mx("e4m3fn", {4}), {}).tensor.scales, Scales{0});
  const QuantizeResult nv = quantize(zeros, Shape{4}, nvfp4({4}), {});
  EXPECT_EQ(nv.tensor.scales, Scales{0x38});
  EXPECT_EQ(nv.tensor.outer, 1.0f);
  EXPECT_EQ(dequantize(nv.tensor), zeros);
}

TEST(ScaledTest, Nvfp4TwoLevels) {
  // amax 5376 = 2 * 6 * 448: outer 2; block scales 448 and 12 / 6 / 2 = 1.
  const Values x = {5376, -2688, 12, -1, 0.5f, 6};
  const QuantizeResult result = quantize(x, Shape{6}, nvfp4({2}), {});
  EXPECT_EQ(result.tensor.outer, 2.0f);
  EXPECT_EQ(result.tensor.scales, (Scales{0x7E, 0x38, 0x30}));
  EXPECT_EQ(dequantize(result.tensor), (Values{5376, -2688, 12, -1, 0.5f, 6}));
}

TEST(ScaledTest, Nvfp4BelowTheRangeOfF32) {
  // The outer scale is the smallest f32 and its product with a block's scale is 0 in f32: the
  // divisor is then the smallest f32, so that zeros stay zeros and nothing becomes NaN.
  const float unit = std::numeric_limits<float>::denorm_min();
  const Values x = {2688 * unit, 0, 0, unit};
  const QuantizeResult result = quantize(x, Shape{4}, nvfp4({2}), {});
  EXPECT_EQ(result.tensor.outer, unit);
  EXPECT_EQ(result.tensor.scales, (Scales{0x7E, 0x01})); // 448; unit / 6 is 0 in f32, so 2^-9
  EXPECT_EQ(result.tensor.elements, (Codes{7, 0, 0, 2}));
}

TEST(ScaledTest, PerTensorF32Scale) {
  const ScaledType type = {&element("e4m3fn"), &element("f32"), {2, 3}};
  const Values x = {896, -448, 2, 0, 1, -896};
  const QuantizeResult result = quantize(x, Shape{2, 3}, type, {});
  EXPECT_EQ(result.tensor.scales, Scales{std::bit_cast<std::uint32_t>(2.0f)});
  EXPECT_EQ(dequantize(result.tensor), x);
  EXPECT_EQ(result.saturated, 0);
}

TEST(ScaledTest, AmaxOfAnF32ScaleNeverCountsAsSaturated) {
  // amax / f32(amax / 448) is 448 only within a rounding; that is no overflow (S10).
  std::mt19937 random(29);
  const ScaledType type = {&element("e4m3fn"), &element("f32"), {1}};
  for (int i = 0; i < 20000; ++i) {
    const float x =
        std::bit_cast<float>(static_cast<std::uint32_t>(0x20000000 + random() % 0x40000000));
    const QuantizeResult result = quantize(Values{x}, Shape{1}, type, {});
    EXPECT_EQ(result.saturated, 0) << x;
    EXPECT_EQ(result.tensor.elements, Codes{0x7E}) << x;
  }
}

TEST(ScaledTest, StochasticTakesANumberAnElement) {
  // 1.25 under scale 1 lies a quarter above 1 in steps of 1 of INT4-like E2M1: 1, 1.5.
  const Values x = {6, 1.25f, 1.25f, -1.25f};
  const std::vector<std::uint32_t> bits = {0, 0x7FFFFFFF, 0x80000000, 0};
  const QuantizeResult result =
      quantize(x, Shape{4}, mx("e2m1fn", {4}), {.rounding = Rounding::Stochastic}, bits);
  EXPECT_EQ(dequantize(result.tensor), (Values{6, 1.5f, 1, -1.5f}));
}

// S9: the code -2^7 of INT8.
TEST(ScaledTest, Int8Range) {
  const Values x = {1, -1.99609375f}; // -127.75 / 64: rounds to -128
  const ScaledType type = mx("int8", {2});
  const QuantizeResult symmetric = quantize(x, Shape{2}, type, {});
  EXPECT_EQ(symmetric.tensor.scales, Scales{127});
  EXPECT_EQ(symmetric.tensor.elements, (Codes{0x40, 0x81}));
  EXPECT_EQ(symmetric.saturated, 1);
  const QuantizeResult full = quantize(x, Shape{2}, type, {.int8 = Int8Range::Full});
  EXPECT_EQ(full.tensor.elements, (Codes{0x40, 0x80}));
  EXPECT_EQ(full.saturated, 0);
  EXPECT_EQ(dequantize(full.tensor), (Values{1, -2}));
}

// S10: what counts as saturated.
TEST(ScaledTest, SaturatedAreThoseThatOverflowed) {
  // Floor on amax 485: scale 1. 464 rounds to 448 within half a step; 465 would round to 480.
  const Values x = {485, 464, -465, 448};
  EXPECT_EQ(quantize(x, Shape{4}, mx("e4m3fn", {4}), {}).saturated, 2);
  EXPECT_EQ(quantize(x, Shape{4}, mx("e4m3fn", {4}), {.rule = ScaleRule::RoundUp}).saturated, 0);
}

TEST(ScaledTest, SaturatedUnderAKnownScale) {
  const ScaledType type = mx("e4m3fn", {4});
  constexpr std::uint32_t kTwo = 128;
  EXPECT_FALSE(isSaturated(type, kTwo, 1, 928, {})); // 464 rounds to 448
  EXPECT_TRUE(isSaturated(type, kTwo, 1, 930, {}));
  EXPECT_TRUE(isSaturated(type, kTwo, 1, -930, {}));
}

// S2: blocks.

TEST(ScaledTest, BlockIndexOfAMatrix) {
  // 3 x 5 in blocks of 2 x 2: a grid of 2 x 3, the last row and column short.
  const std::vector<std::int64_t> expected = {0, 0, 1, 1, 2, 0, 0, 1, 1, 2, 3, 3, 4, 4, 5};
  for (std::int64_t i = 0; i < 15; ++i)
    EXPECT_EQ(blockIndex(Shape{3, 5}, Shape{2, 2}, i), expected[i]) << i;
}

TEST(ScaledTest, RaggedLastBlockHasItsOwnAmax) {
  const Values x = {1, 1, 1, 1, 8, 16};
  const QuantizeResult result = quantize(x, Shape{6}, mx("e2m1fn", {4}), {});
  EXPECT_EQ(result.tensor.scales, (Scales{125, 129})); // 2^(0-2), 2^(4-2)
  EXPECT_EQ(dequantize(result.tensor), x);
}

TEST(ScaledTest, BlocksOnAnyAxes) {
  std::mt19937 random(31);
  std::normal_distribution<float> normal;
  struct Case {
    Shape shape, block;
  };
  for (const Case& c : {Case{{5, 7}, {2, 3}}, Case{{4, 6, 5}, {1, 4, 2}}, Case{{64, 3}, {32, 1}},
                        Case{{2, 3, 4, 5}, {2, 1, 4, 5}}, Case{{7}, {7}}, Case{{}, {}}}) {
    std::int64_t size = 1;
    for (std::int64_t extent : c.shape)
      size *= extent;
    Values x(size);
    for (float& value : x)
      value = normal(random);
    for (const ScaledType& type : {mx("e4m3fn", c.block), nvfp4(c.block)}) {
      const QuantizeResult result = quantize(x, c.shape, type, {});
      // By the definition: each block's amax, each element under the scale of its block.
      Values amax(result.tensor.scales.size(), 0.0f);
      float largest = 0;
      for (std::int64_t i = 0; i < size; ++i) {
        float& block = amax[blockIndex(c.shape, c.block, i)];
        block = std::max(block, std::fabs(x[i]));
        largest = std::max(largest, block);
      }
      const float outer =
          type.hasOuterScale ? outerScale(*type.element, *type.scale, largest) : 1.0f;
      EXPECT_EQ(result.tensor.outer, outer);
      for (std::size_t b = 0; b < amax.size(); ++b)
        EXPECT_EQ(result.tensor.scales[b],
                  scaleCode(*type.element, *type.scale, ScaleRule::Floor, amax[b], outer));
      const Values back = dequantize(result.tensor);
      for (std::int64_t i = 0; i < size; ++i) {
        const std::uint32_t scale = result.tensor.scales[blockIndex(c.shape, c.block, i)];
        EXPECT_EQ(result.tensor.elements[i], quantizeElement(type, scale, outer, x[i], {}));
        EXPECT_EQ(back[i], dequantizeElement(type, scale, outer, result.tensor.elements[i]));
      }
    }
  }
}

TEST(ScaledTest, ZeroSizedTensors) {
  for (const Shape& shape : {Shape{0}, Shape{3, 0}, Shape{0, 32}}) {
    const QuantizeResult result = quantize({}, shape, mx("e4m3fn", Shape(shape.size(), 1)), {});
    EXPECT_TRUE(result.tensor.elements.empty());
    EXPECT_TRUE(result.tensor.scales.empty());
    EXPECT_EQ(result.tensor.shape, shape);
    EXPECT_TRUE(dequantize(result.tensor).empty());
  }
}

// S8: non-finite inputs.

TEST(ScaledTest, NonFiniteIsRefusedByDefaultWithItsPlace) {
  const QuantizeResult result =
      quantize(Values{1, 2, kInf, kNan}, Shape{2, 2}, mx("e4m3fn", {1, 2}), {});
  ASSERT_TRUE(result.refused);
  EXPECT_EQ(result.refused->index, 2);
  EXPECT_EQ(result.refused->value, kInf);
  EXPECT_EQ(result.nonFinite, 2);
  EXPECT_TRUE(result.tensor.elements.empty());
}

TEST(ScaledTest, NonFinitePropagatesToItsBlockOnly) {
  for (float bad : {kInf, -kInf, kNan}) {
    const QuantizeResult result = quantize(Values{1, bad, 2, 4}, Shape{4}, mx("e4m3fn", {2}),
                                           {.nonFinite = NonFinite::Propagate});
    EXPECT_FALSE(result.refused);
    EXPECT_EQ(result.nonFinite, 1);
    EXPECT_EQ(result.tensor.scales, (Scales{0xFF, 127 + 2 - 8}));
    EXPECT_EQ(result.tensor.elements[0], 0);
    const Values back = dequantize(result.tensor);
    EXPECT_TRUE(std::isnan(back[0]) && std::isnan(back[1]));
    EXPECT_EQ(back[2], 2);
  }
}

TEST(ScaledTest, InfinityMaySaturate) {
  const QuantizeOptions options{.nonFinite = NonFinite::Saturate};
  const QuantizeResult result =
      quantize(Values{kInf, -kInf, kNan, 1}, Shape{4}, mx("e4m3fn", {2}), options);
  EXPECT_EQ(result.nonFinite, 3);
  EXPECT_EQ(result.saturated, 0);
  EXPECT_EQ(result.tensor.scales, (Scales{127 + 119, 0xFF})); // NaN still takes its block
  EXPECT_EQ(result.tensor.elements, (Codes{0x7E, 0xFE, 0, 0}));
  // Infinity saturates even where finite overflow does not.
  const QuantizeResult special =
      quantize(Values{-kInf}, Shape{1}, mx("e5m2", {1}),
               {.overflow = Overflow::Special, .nonFinite = NonFinite::Saturate});
  EXPECT_EQ(special.tensor.elements, Codes{0xFB});
}

TEST(ScaledTest, NanTakesNoPartInTheOuterScale) {
  const QuantizeResult result = quantize(Values{kNan, 1e30f, 12, 6}, Shape{4}, nvfp4({2}),
                                         {.nonFinite = NonFinite::Propagate});
  EXPECT_EQ(result.tensor.outer, 12.0f / 2688.0f);
  EXPECT_EQ(result.tensor.scales[0], 0x7Fu);
}

TEST(ScaledTest, NonFiniteNames) {
  EXPECT_EQ(nonFiniteNames(),
            (std::vector<std::string>{"error", "propagate", "saturate", "skip-nan"}));
  for (const std::string& name : nonFiniteNames()) {
    ASSERT_TRUE(findNonFinite(name)) << name;
    EXPECT_EQ(nonFiniteName(*findNonFinite(name)), name);
  }
  EXPECT_EQ(findNonFinite("nan"), std::nullopt);
}

TEST(ScaledTest, TypesAreEqualByTheirRows) {
  EXPECT_EQ(mx("e4m3fn", {1, 32}), mx("e4m3fn", {1, 32}));
  EXPECT_NE(mx("e4m3fn", {1, 32}), mx("e5m2", {1, 32}));
  EXPECT_NE(mx("e4m3fn", {1, 32}), mx("e4m3fn", {1, 16}));
}

// Every value of every format is its own quantization under scale 1.
class EveryScaledElement : public testing::TestWithParam<ElementFormat> {};
INSTANTIATE_TEST_SUITE_P(ScaledTest, EveryScaledElement, testing::ValuesIn([] {
                           std::vector<ElementFormat> rows = fields::formatsUpTo(8);
                           std::erase_if(rows, [](const auto& row) { return !row.hasZero(); });
                           return rows;
                         }()),
                         fields::testName);

TEST_P(EveryScaledElement, RepresentableBlocksComeBack) {
  const ElementFormat& format = GetParam();
  Values x;
  for (std::uint64_t code = 0; code < format.codeCount(); ++code)
    if (const double value = fields::value(format, code); std::isfinite(value))
      x.push_back(static_cast<float>(value));
  const Shape shape = {static_cast<std::int64_t>(x.size())};
  const ScaledType type = {&GetParam(), &element("e8m0fnu"), shape};
  for (ScaleRule rule : {ScaleRule::Floor, ScaleRule::RoundUp}) {
    QuantizeOptions options{.rule = rule, .int8 = Int8Range::Full};
    if (format.isInteger()) // -2 in the block would be its amax
      std::erase(x, -2.0f);
    const QuantizeResult result =
        quantize(x, Shape{static_cast<std::int64_t>(x.size())}, type, options);
    EXPECT_EQ(result.tensor.scales, Scales{127});
    EXPECT_EQ(result.saturated, 0);
    EXPECT_EQ(dequantize(result.tensor), x);
  }
}

// S18: a given amax.

TEST(ScaledTest, AGivenAmaxDecidesTheScaleOfTheTensor) {
  const ScaledType tensor = {&element("e4m3fn"), &element("f32"), {4}};
  const QuantizeOptions options{.rule = ScaleRule::Nearest, .amax = 224.0f};
  // The scale is 224 / 448 = 0.5. 300 / 0.5 saturates, 17 / 0.5 = 34 lies between 32 and 36.
  const ScaledTensor found = quantize(Values{300, -1, 17, 0}, Shape{4}, tensor, options).tensor;
  EXPECT_EQ(found.scales, Scales{std::bit_cast<std::uint32_t>(0.5f)});
  EXPECT_EQ(dequantize(found), (Values{224, -1, 16, 0}));
  // The same scale for smaller values, and for none that are not zero.
  EXPECT_EQ(quantize(Values{1, 1, 1, 1}, Shape{4}, tensor, options).tensor.scales, found.scales);
  EXPECT_EQ(quantize(Values{0, 0, 0, 0}, Shape{4}, tensor, options).tensor.scales, found.scales);
}

TEST(ScaledTest, AGivenAmaxDecidesTheOuterScaleAlone) {
  // 2688 = 6 * 448: the outer scale is 1, that of the block 3 / 6.
  const QuantizeOptions options{.rule = ScaleRule::Nearest, .amax = 2688.0f};
  const ScaledTensor found = quantize(Values{3, -1.5f}, Shape{2}, nvfp4({2}), options).tensor;
  EXPECT_EQ(found.outer, 1.0f);
  EXPECT_EQ(found.scales, Scales{0x30});
  EXPECT_EQ(dequantize(found), (Values{3, -1.5f}));
  // Under a tenth of the outer scale that the values would have, the block's saturates at 448.
  const ScaledTensor small = quantize(Values{26880}, Shape{1}, nvfp4({1}), options).tensor;
  EXPECT_EQ(small.scales, Scales{0x7E});
  EXPECT_EQ(dequantize(small), Values{2688});
}

TEST(ScaledTest, NonFiniteValuesUnderAGivenAmax) {
  const ScaledType tensor = {&element("e4m3fn"), &element("f32"), {2}};
  QuantizeOptions options{.rule = ScaleRule::Nearest, .amax = 448.0f};
  EXPECT_EQ(quantize(Values{1, kInf}, Shape{2}, tensor, options).refused->index, 1);
  options.nonFinite = NonFinite::Saturate; // Inf does not count for the scale
  EXPECT_EQ(dequantize(quantize(Values{1, kInf}, Shape{2}, tensor, options).tensor),
            (Values{1, 448}));
  options.nonFinite = NonFinite::Propagate;
  EXPECT_TRUE(
      std::isnan(dequantize(quantize(Values{1, kInf}, Shape{2}, tensor, options).tensor).front()));
  options.nonFinite = NonFinite::SkipNan;
  const Values skipped = dequantize(quantize(Values{1, kNan}, Shape{2}, tensor, options).tensor);
  EXPECT_EQ(skipped[0], 1);
  EXPECT_TRUE(std::isnan(skipped[1]));
}

TEST(ScaledTest, TheSignOfANanDecidesNothing) {
  const std::uint32_t patterns[] = {0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0xFFFFFFFF};
  for (const format::ScaledFormat& row : format::kScaledFormats) {
    const ScaledType type = {row.element, row.scale, {2}, row.hasOuterScale};
    const std::uint64_t expected =
        row.element->hasNan() ? *row.element->nanCode() : row.element->maxCode();
    for (const Rounding rounding : {Rounding::TiesToEven, Rounding::TowardNegative})
      for (const std::uint32_t pattern : patterns) {
        const Values values = {1, std::bit_cast<float>(pattern)};
        const QuantizeOptions options{
            .rule = row.rule, .rounding = rounding, .nonFinite = NonFinite::SkipNan};
        const ScaledTensor found = quantize(values, Shape{2}, type, options).tensor;
        EXPECT_EQ(found.elements[1], expected) << row.name << std::hex << " " << pattern;
      }
  }
}

TEST(ScaledTest, ScalesAreRoundedUpForElementsThatAreRoundedStochastically) {
  // amax / 6 = 1.05 lies between the values 1 and 1.125 of e4m3fn, nearer to 1.
  const ScaledType type = nvfp4({2});
  QuantizeOptions options{.rule = ScaleRule::RoundUp, .outer = OuterForm::One};
  const Values values = {6.3f, 1};
  EXPECT_EQ(quantize(values, Shape{2}, type, options).tensor.scales, Scales{0x38});
  options.rounding = Rounding::Stochastic;
  const std::vector<std::uint32_t> random(2);
  EXPECT_EQ(quantize(values, Shape{2}, type, options, random).tensor.scales, Scales{0x39});
  EXPECT_EQ(quantize(Values{6.75f, 1}, Shape{2}, type, options, random).tensor.scales,
            Scales{0x39}); // 1.125 itself
  EXPECT_EQ(quantize(Values{1e6f, 1}, Shape{2}, type, options, random).tensor.scales, Scales{0x7E});
  EXPECT_EQ(quantize(Values{1e-9f, 0}, Shape{2}, type, options, random).tensor.scales,
            Scales{0x01});
  options.rule = ScaleRule::Nearest;
  EXPECT_EQ(quantize(values, Shape{2}, type, options, random).tensor.scales, Scales{0x38});
}

} // namespace
} // namespace octavo::numerics
