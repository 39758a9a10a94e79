#include "octavo/Checkpoint/Layouts/LayoutFixture.h"

#include <set>

namespace octavo::checkpoint {
namespace {

class DetectTest : public LayoutFixture {};

TEST_F(DetectTest, WithoutScalesItIsPlain) {
  config(R"({"model_type":"bert","quantization_config":null})");
  tensor("encoder.weight", "F32", {4, 4});
  tensor("cast.weight", "F8_E4M3", {4, 4}); // a plain cast, as in diffusion models
  tensor("logit_scale", "F32", {});
  tensor("layers.0.self_attn.k_scale", "F32", {});
  read();
  expectLayers("plain", {});
  expectFindings({});
  EXPECT_EQ(plainNames(),
            (std::vector<std::string>{"encoder.weight", "cast.weight", "logit_scale"}));
  EXPECT_EQ(inventory.kvScales.size(), 1u);
}

TEST_F(DetectTest, WithoutAConfigurationTheTensorsSay) {
  tensor("m.weight", "F8_E4M3", {256, 128});
  tensor("m.weight_scale_inv", "F32", {2, 1});
  read();
  expectLayers(
      "deepseek",
      {"m.weight fp8_block [256,128] blocks [128,128] e4m3fn; scales m.weight_scale_inv f32"});
  expectFindings({});
}

TEST_F(DetectTest, WhereTwoFitTheFirstIsTakenAndSaid) {
  tensor("m.weight", "F8_E4M3", {4, 64});
  tensor("m.weight_scale", "U8", {4, 2});
  read();
  EXPECT_EQ(detected.layout->name(), "compressed-tensors");
  expectFindings({"ambiguous-layout"});
  EXPECT_TRUE(findingSays("fit compressed-tensors, modelopt, quark; read as compressed-tensors"));
}

TEST_F(DetectTest, TwoConfigurations) {
  quantization(R"({"quant_method":"fp8","activation_scheme":"dynamic"})");
  config(R"({"producer":{"name":"modelopt"},"quantization":{"quant_algo":"FP8"}})",
         "hf_quant_config.json");
  tensor("m.weight", "F8_E4M3", {4, 64});
  tensor("m.weight_scale", "F32", {});
  read();
  EXPECT_EQ(detected.layout->name(), "fp8");
  expectFindings({"ambiguous-layout"});
}

TEST_F(DetectTest, LayoutsOfOthersAreNamed) {
  quantization(R"({"quant_method":"gptq","bits":4})");
  tensor("m.qweight", "I32", {4, 64});
  tensor("m.scales", "F16", {4, 2});
  read();
  EXPECT_EQ(detected.layout->name(), "plain");
  expectFindings({"unsupported-layout"});
  EXPECT_TRUE(findingSays("\"gptq\""));
}

TEST(LayoutTableTest, SpellingsAreSound) {
  std::set<std::string_view> names;
  for (const Layout* layout : layouts()) {
    EXPECT_TRUE(names.insert(layout->name()).second);
    EXPECT_EQ(findLayout(layout->name()), layout);
    EXPECT_FALSE(layout->description().empty() || layout->source().empty());
    std::set<std::string_view> written;
    for (const LayerSpelling& row : layout->spellings()) {
      const format::ScaledFormat* format = format::findScaledFormat(row.format);
      ASSERT_TRUE(format) << layout->name() << " " << row.format;
      EXPECT_EQ(row.outer.name.empty(), !format->hasOuterScale) << layout->name();
      EXPECT_TRUE(findSafetensorsDtype(row.elements.dtype)) << row.elements.dtype;
      if (row.access == Access::ReadAndWrite && row.axes == StoredAxes::Same)
        EXPECT_TRUE(written.insert(row.format).second) << layout->name() << " " << row.format;
      for (const ScaleSpelling* part : {&row.scales, &row.outer, &row.input})
        EXPECT_TRUE(part->dtype.empty() || findSafetensorsDtype(part->dtype)) << part->dtype;
    }
    for (const LayerSpelling& row : layout->spellings())
      EXPECT_EQ(layout->spelling(row.format) != nullptr, written.contains(row.format));
  }
  EXPECT_EQ(layouts().back()->name(), "plain");
  EXPECT_EQ(findLayout("no such"), nullptr);
}

TEST(TensorNameTest, StarStandsForTheParameter) {
  EXPECT_EQ(tensorName("m.q", "weight", "*"), "m.q.weight");
  EXPECT_EQ(tensorName("m.q", "weight", "*_scale_2"), "m.q.weight_scale_2");
  EXPECT_EQ(tensorName("m.experts", "gate_up_proj", "*_blocks"), "m.experts.gate_up_proj_blocks");
  EXPECT_EQ(tensorName("block.0.mlp", "mlp1_weight", "*.scales"), "block.0.mlp.mlp1_weight.scales");
  EXPECT_EQ(tensorName("m.q", "weight", "input_scale"), "m.q.input_scale");
  EXPECT_EQ(tensorName("", "weight", "*"), "weight");
}

} // namespace
} // namespace octavo::checkpoint
