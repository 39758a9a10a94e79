#include "octavo/Checkpoint/Jobs/LayerPlan.h"

#include <gtest/gtest.h>

#include <set>

namespace octavo::checkpoint {
namespace {

/// The plan of `shape` in a layout's spelling of a format; scales are BF16 if the spelling leaves
/// that open.
tl::expected<LayerPlan, std::string> planned(std::string_view layout, std::string_view format,
                                             std::vector<std::int64_t> shape,
                                             WithInputScale input = WithInputScale::No) {
  const LayerSpelling* spelling = findLayout(layout)->spelling(format, shape.size());
  EXPECT_TRUE(spelling);
  const bool isStack = shape.size() == 3;
  return planLayer(isStack ? "m.experts" : "m", isStack ? "down_proj" : "weight", shape,
                   *format::findScaledFormat(format), *spelling, *findSafetensorsDtype("BF16"),
                   input);
}

std::string reason(const tl::expected<LayerPlan, std::string>& plan) {
  return plan ? "" : plan.error();
}

TEST(LayerPlan, rowsAreWholeBlocksWhereReadersTakeTheirNumberFromTheShape) {
  EXPECT_EQ(reason(planned("compressed-tensors", "mxfp4", {8, 48})),
            "its 48 columns are not whole blocks of 32");
  EXPECT_EQ(reason(planned("compressed-tensors", "nvfp4", {8, 40})),
            "its 40 columns are not whole blocks of 16");
  EXPECT_EQ(reason(planned("native", "mxint8", {8, 33})),
            "its 33 columns are not whole blocks of 32");
  EXPECT_EQ(reason(planned("compressed-tensors", "nvfp4", {8, 48})), "");
  // The shape of the scales tells the number of blocks of 128, so the last may be short.
  const auto ragged = planned("compressed-tensors", "fp8_group", {8, 200});
  ASSERT_TRUE(ragged);
  EXPECT_EQ(ragged->tensors[LayerPlan::kScales].shape, (std::vector<std::int64_t>{8, 2}));
  EXPECT_EQ(ragged->tensors[LayerPlan::kScales].dtype->name, "BF16");
}

TEST(LayerPlan, scalesOfRankFourAreForMatrices) {
  const auto plan = planned("modelopt", "fp8_block", {256, 200});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->tensors[LayerPlan::kScales].shape, (std::vector<std::int64_t>{2, 1, 2, 1}));
}

/// Layouts that store experts as one stacked tensor: gpt-oss, and ModelOpt in two formats, as in
/// their producers' checkpoints. native, which only octavo reads, has both forms.
TEST(LayerPlan, stacksAndMatricesWhereReadersLookForThem) {
  const std::set<std::string> stacks = {"gpt-oss mxfp4", "modelopt fp8_tensor", "modelopt nvfp4"};
  int written = 0;
  for (const Layout* layout : layouts())
    for (const LayerSpelling& row : layout->spellings()) {
      if (row.access != Access::ReadAndWrite)
        continue;
      const std::string name = std::string(layout->name()) + " " + std::string(row.format);
      SCOPED_TRACE(name);
      const auto stack = planned(layout->name(), row.format, {2, 256, 256}, WithInputScale::Yes);
      const auto matrix = planned(layout->name(), row.format, {256, 256}, WithInputScale::Yes);
      const bool isNative = layout->name() == "native";
      EXPECT_EQ(stack.has_value(), isNative || stacks.contains(name)) << reason(stack);
      EXPECT_EQ(matrix.has_value(), layout->name() != "gpt-oss") << reason(matrix);
      if (!stack)
        EXPECT_EQ(reason(stack), "stacked experts, which this layout stores one by one");
      if (!matrix)
        EXPECT_EQ(reason(matrix), "not one of the stacked experts that this layout quantizes");
      ++written;
    }
  EXPECT_GT(written, 20);
  // Readers know stacks only under the names experts.gate_up_proj and experts.down_proj.
  for (auto [module, parameter] :
       {std::pair("m.experts", "weight"), std::pair("m.mlp", "down_proj")})
    EXPECT_EQ(reason(planLayer(module, parameter, std::vector<std::int64_t>{2, 8, 64},
                               *format::findScaledFormat("mxfp4"),
                               *findLayout("gpt-oss")->spelling("mxfp4", 3),
                               *findSafetensorsDtype("BF16"), WithInputScale::No)),
              "not one of the stacked experts that this layout quantizes");
}

TEST(LayerPlan, gptOssHasBlocksOfSixteenBytes) {
  const auto plan = planned("gpt-oss", "mxfp4", {2, 8, 64});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->tensors[LayerPlan::kElements].shape, (std::vector<std::int64_t>{2, 8, 2, 16}));
  EXPECT_EQ(plan->tensors[LayerPlan::kScales].shape, (std::vector<std::int64_t>{2, 8, 2}));
}

TEST(LayerPlan, oneScaleWhereTheLayoutHasOne) {
  EXPECT_EQ(reason(planned("fp8", "fp8_tensor", {4, 16})), "");
  LayerSpelling spelling = *findLayout("fp8")->spelling("fp8_tensor");
  const auto plan = planLayer("m", "weight", std::vector<std::int64_t>{4, 16},
                              *format::findScaledFormat("fp8_row"), spelling,
                              *findSafetensorsDtype("F32"), WithInputScale::No);
  EXPECT_EQ(reason(plan), "it has scales [4, 1] where this layout has one");
  spelling.scales.shape = ScaleShape::Rows;
  const auto grouped = planLayer("m", "weight", std::vector<std::int64_t>{4, 256},
                                 *format::findScaledFormat("fp8_group"), spelling,
                                 *findSafetensorsDtype("F32"), WithInputScale::No);
  EXPECT_EQ(reason(grouped), "it has scales [4, 2] where this layout has one per row");
}

TEST(LayerPlan, inputScalesHaveAPlaceOrNot) {
  const auto with = planned("fp8", "fp8_tensor", {4, 16}, WithInputScale::Yes);
  ASSERT_TRUE(with && with->input);
  EXPECT_EQ(with->tensors[*with->input].name, "m.input_scale");
  const auto rows = planned("modelopt", "fp8_row", {4, 16}, WithInputScale::Yes);
  ASSERT_TRUE(rows);
  EXPECT_FALSE(rows->input);
  // Two stacks of experts share a module, so one name is not enough for two scales.
  const auto stacked = planned("native", "nvfp4", {2, 4, 16}, WithInputScale::Yes);
  ASSERT_TRUE(stacked);
  EXPECT_FALSE(stacked->input);
  const auto named = planned("modelopt", "nvfp4", {2, 4, 16}, WithInputScale::Yes);
  ASSERT_TRUE(named && named->input);
  EXPECT_EQ(named->tensors[*named->input].name, "m.experts.down_proj_input_scale");
}

TEST(LayerPlan, whereReadersNeedAnInputScaleThereIsOne) {
  const std::string why = "this layout needs a static activation scale, and there is none";
  EXPECT_EQ(reason(planned("modelopt", "fp8_tensor", {4, 16})), why);
  EXPECT_EQ(reason(planned("modelopt", "fp8_tensor", {2, 4, 16})), why);
  EXPECT_EQ(reason(planned("modelopt", "fp8_tensor", {4, 16}, WithInputScale::Yes)), "");
  EXPECT_EQ(reason(planned("modelopt", "fp8_tensor", {2, 4, 16}, WithInputScale::Yes)), "");
}

} // namespace
} // namespace octavo::checkpoint
