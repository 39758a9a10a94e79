// The scaled formats against OCP MX 1.0, table 1, and the owners' documents; block and grid shapes.

#include "octavo/Format/ScaledFormat.h"

#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>

namespace octavo::format {

void PrintTo(const ScaledFormat& format, std::ostream* out) { *out << format.name; }

namespace {

using Shape = std::vector<std::int64_t>;

TEST(ScaledFormatTest, ConcreteMxFormats) {
  struct Row {
    const char *name, *element;
    double bits; // (w + k d) / k, OCP MX 5.1, for k = 32 and w = 8
  };
  for (const Row& expected : std::initializer_list<Row>{{"mxfp8_e4m3", "e4m3fn", 8.25},
                                                        {"mxfp8_e5m2", "e5m2", 8.25},
                                                        {"mxfp6_e3m2", "e3m2fn", 6.25},
                                                        {"mxfp6_e2m3", "e2m3fn", 6.25},
                                                        {"mxfp4", "e2m1fn", 4.25},
                                                        {"mxint8", "int8", 8.25}}) {
    const ScaledFormat* row = findScaledFormat(expected.name);
    ASSERT_NE(row, nullptr) << expected.name;
    EXPECT_EQ(row->element->name, expected.element);
    EXPECT_EQ(row->scale->name, "e8m0fnu");
    EXPECT_EQ(row->along, 32);
    EXPECT_EQ(row->across, 1);
    EXPECT_FALSE(row->hasOuterScale);
    EXPECT_DOUBLE_EQ(row->bitsPerValue(Shape{64, 384}, 1), expected.bits);
  }
}

TEST(ScaledFormatTest, BitsPerValueOfTheOthers) {
  const auto bits = [](const char* name, const Shape& shape, int contracted) {
    return findScaledFormat(name)->bitsPerValue(shape, contracted);
  };
  // 4 + 8 / 16, and one f32 for 64 * 384 values.
  EXPECT_DOUBLE_EQ(bits("nvfp4", {64, 384}, 1), 4.5 + 32.0 / (64 * 384));
  EXPECT_DOUBLE_EQ(bits("fp8_tensor", {64, 384}, 1), 8 + 32.0 / (64 * 384));
  EXPECT_DOUBLE_EQ(bits("fp8_row", {64, 384}, 1), 8 + 32.0 / 384);
  EXPECT_DOUBLE_EQ(bits("cfloat8_1_4_3_tensor", {64, 384}, 1), 8 + 8.0 / (64 * 384));
  EXPECT_DOUBLE_EQ(bits("fp8_block", {256, 384}, 1), 8 + 32.0 / (128 * 128));
  EXPECT_DOUBLE_EQ(bits("fp8_group", {256, 384}, 1), 8 + 32.0 / 128);
  // A short last block has a whole scale: 33 values in 2 blocks.
  EXPECT_DOUBLE_EQ(bits("mxfp4", {1, 33}, 1), 4 + 2 * 8.0 / 33);
}

TEST(ScaledFormatTest, BlockShapes) {
  const auto block = [](const char* name, const Shape& shape, int contracted) {
    return blockShape(*findScaledFormat(name), shape, contracted);
  };
  EXPECT_EQ(block("mxfp4", {64, 384}, 1), (Shape{1, 32}));
  EXPECT_EQ(block("mxfp4", {384, 64}, 0), (Shape{32, 1})); // a weight stored [K, N]
  EXPECT_EQ(block("mxfp4", {4, 64, 384}, 2), (Shape{1, 1, 32}));
  EXPECT_EQ(block("mxfp4", {64, 20}, 1), (Shape{1, 20})); // shorter than a block
  EXPECT_EQ(block("mxfp4", {384}, 0), (Shape{32}));
  EXPECT_EQ(block("nvfp4", {64, 384}, 1), (Shape{1, 16}));
  EXPECT_EQ(block("fp8_tensor", {4, 64, 384}, 1), (Shape{4, 64, 384}));
  EXPECT_EQ(block("cfloat8_1_5_2_tensor", {4, 64, 384}, 1), (Shape{4, 64, 384}));
  EXPECT_EQ(block("fp8_row", {64, 384}, 1), (Shape{1, 384}));
  EXPECT_EQ(block("fp8_row", {384, 64}, 0), (Shape{384, 1}));
  EXPECT_EQ(block("fp8_block", {256, 384}, 1), (Shape{128, 128}));
  EXPECT_EQ(block("fp8_block", {100, 384}, 1), (Shape{100, 128}));
  EXPECT_EQ(block("fp8_block", {8, 256, 384}, 2), (Shape{1, 128, 128}));
  EXPECT_EQ(block("fp8_block", {8, 256, 384}, 1), (Shape{1, 128, 128}));
  EXPECT_EQ(block("mxfp4", {64, 0}, 1), (Shape{1, 1}));
  EXPECT_EQ(block("fp8_tensor", {0, 3}, 1), (Shape{1, 3}));
}

TEST(ScaledFormatTest, GridOfScales) {
  EXPECT_EQ(scaleShape(Shape{64, 384}, Shape{1, 32}), (Shape{64, 12}));
  EXPECT_EQ(scaleShape(Shape{64, 385}, Shape{1, 32}), (Shape{64, 13}));
  EXPECT_EQ(scaleShape(Shape{300, 129}, Shape{128, 128}), (Shape{3, 2}));
  EXPECT_EQ(scaleShape(Shape{64, 0}, Shape{1, 1}), (Shape{64, 0}));
  EXPECT_EQ(scaleShape(Shape{}, Shape{}), Shape{});
}

class EveryScaledFormat : public testing::TestWithParam<ScaledFormat> {};
INSTANTIATE_TEST_SUITE_P(ScaledFormatTest, EveryScaledFormat, testing::ValuesIn(kScaledFormats),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(EveryScaledFormat, IsAFormatThatNumericsTakes) {
  const ScaledFormat& row = GetParam();
  EXPECT_TRUE(row.element->isNarrow() && row.element->hasZero());
  EXPECT_TRUE(row.scale->hasNan() && row.scale->width() <= 32);
  EXPECT_TRUE(!row.hasOuterScale || row.scale->isNarrow());
  EXPECT_GE(row.along, 0);
  EXPECT_GE(row.across, 0);
  EXPECT_FALSE(row.source.empty());
  EXPECT_NE(findScaledFormat(row.activation), nullptr) << row.activation;
  EXPECT_EQ(findScaledFormat(row.name)->name, row.name);
  // Only a power-of-two scale has a choice of rules.
  if (row.scale->specials != Specials::Scale)
    EXPECT_EQ(row.rule, ScaleRule::Nearest);
}

TEST(ScaledFormatTest, NamesAreUniqueAndUnknownOnesFindNothing) {
  std::set<std::string_view> names;
  for (const ScaledFormat& row : kScaledFormats)
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  EXPECT_EQ(findScaledFormat("mxfp5"), nullptr);
  EXPECT_EQ(findScaledFormat(""), nullptr);
}

TEST(ScaledFormatTest, NamesWithABlockSize) {
  const ScaledFormat* sixteen = findScaledFormat("mxfp4:16");
  ASSERT_NE(sixteen, nullptr);
  EXPECT_EQ(sixteen->name, "mxfp4:16");
  EXPECT_EQ(sixteen->rowName(), "mxfp4");
  EXPECT_EQ(findScaledFormat("mxfp4:16"), sixteen);
  EXPECT_EQ(findScaledFormat(sixteen->activation), sixteen);
  EXPECT_EQ(blockShape(*sixteen, Shape{64, 384}, 1), (Shape{1, 16}));
  EXPECT_DOUBLE_EQ(sixteen->bitsPerValue(Shape{64, 384}, 1), 4 + 8.0 / 16);
  EXPECT_EQ(findScaledFormat("mxfp4:32"), findScaledFormat("mxfp4"));
  EXPECT_EQ(findScaledFormat("mxfp4")->along, 32);
  const ScaledFormat* square = findScaledFormat("fp8_block:64");
  ASSERT_NE(square, nullptr);
  EXPECT_EQ(blockShape(*square, Shape{256, 384}, 1), (Shape{64, 64}));
  EXPECT_EQ(square->activation, "fp8_group:64");
  for (const char* name : {"mxfp4:", "mxfp4:0", "mxfp4:4", "mxfp4:24", "mxfp4:2048", "mxfp4:016",
                           "mxfp4:16x", "mxfp4:-16", "mxfp4:16:16", "fp8_row:16", "fp8_tensor:8",
                           "mxfp5:16", ":16", "mxfp4:99999999999999999999"})
    EXPECT_EQ(findScaledFormat(name), nullptr) << name;
}

TEST(ScaledFormatTest, RuleNames) {
  for (const ScaleRuleRow& row : kScaleRules) {
    EXPECT_EQ(findScaleRule(row.name), row.rule);
    EXPECT_EQ(scaleRuleName(row.rule), row.name);
  }
  EXPECT_EQ(scaleRuleName(ScaleRule::RoundUp), "round-up");
  EXPECT_EQ(findScaleRule("rceil"), std::nullopt);
}

} // namespace
} // namespace octavo::format
