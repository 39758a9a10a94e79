// Names, dtypes and shapes are as in gpt-oss's checkpoints: Hugging Face's and OpenAI's own
// (gpt_oss/torch/weights.py).
#include "octavo/Checkpoint/Layouts/LayoutFixture.h"

namespace octavo::checkpoint {
namespace {

class GptOssTest : public LayoutFixture {};

TEST_F(GptOssTest, HuggingFaceNames) {
  quantization(R"({"modules_to_not_convert":["model.layers.*.self_attn",)"
               R"("model.layers.*.mlp.router","model.embed_tokens","lm_head"],)"
               R"("quant_method":"mxfp4"})");
  tensor("model.layers.0.mlp.experts.gate_up_proj_blocks", "U8", {3, 8, 2, 16});
  tensor("model.layers.0.mlp.experts.gate_up_proj_scales", "U8", {3, 8, 2});
  tensor("model.layers.0.mlp.experts.gate_up_proj_bias", "BF16", {3, 8});
  tensor("model.layers.0.mlp.experts.down_proj_blocks", "U8", {3, 64, 1, 16});
  tensor("model.layers.0.mlp.experts.down_proj_scales", "U8", {3, 64, 1});
  tensor("model.layers.0.mlp.router.weight", "BF16", {3, 64});
  tensor("model.layers.0.self_attn.q_proj.weight", "BF16", {64, 64});
  tensor("model.embed_tokens.weight", "BF16", {8, 64});
  tensor("lm_head.weight", "BF16", {8, 64});
  read();
  expectLayers(
      "gpt-oss",
      {"model.layers.0.mlp.experts.down_proj mxfp4 [3,64,32] blocks [1,1,32] e2m1fn packed"
       "; scales model.layers.0.mlp.experts.down_proj_scales e8m0fnu",
       "model.layers.0.mlp.experts.gate_up_proj mxfp4 [3,8,64] blocks [1,1,32] e2m1fn packed"
       "; scales model.layers.0.mlp.experts.gate_up_proj_scales e8m0fnu"});
  expectFindings({"interleaved-gate-up model.layers.0.mlp.experts.gate_up_proj_blocks"});
  for (const Layer& layer : inventory.layers)
    EXPECT_EQ(layer.plainAxes, PlainAxes::Swapped);
}

TEST_F(GptOssTest, OriginalNamesWithoutAConfiguration) {
  tensor("block.0.mlp.mlp1_weight.blocks", "U8", {3, 8, 2, 16});
  tensor("block.0.mlp.mlp1_weight.scales", "U8", {3, 8, 2});
  tensor("block.0.mlp.mlp2_weight.blocks", "U8", {3, 64, 1, 16});
  tensor("block.0.mlp.mlp2_weight.scales", "U8", {3, 64, 1});
  tensor("block.0.mlp.gate.weight", "BF16", {3, 64});
  read();
  expectLayers("gpt-oss", {"block.0.mlp.mlp1_weight mxfp4 [3,8,64] blocks [1,1,32] e2m1fn packed"
                           "; scales block.0.mlp.mlp1_weight.scales e8m0fnu",
                           "block.0.mlp.mlp2_weight mxfp4 [3,64,32] blocks [1,1,32] e2m1fn packed"
                           "; scales block.0.mlp.mlp2_weight.scales e8m0fnu"});
  expectFindings({"interleaved-gate-up block.0.mlp.mlp1_weight.blocks"});
  EXPECT_EQ(inventory.layers[0].plainAxes, PlainAxes::Same);
}

TEST_F(GptOssTest, RanksThreeAreToldApartByTheirScales) {
  quantization(R"({"quant_method":"mxfp4"})");
  tensor("a.down_proj_blocks", "U8", {4, 8, 16}); // [E, N, K / 2]
  tensor("a.down_proj_scales", "U8", {4, 8, 1});
  tensor("b.down_proj_blocks", "U8", {4, 8, 16}); // [N, K / 32, 16]
  tensor("b.down_proj_scales", "U8", {4, 8});
  tensor("c.down_proj_blocks", "U8", {4, 8, 16});
  tensor("c.down_proj_scales", "U8", {4, 4});
  read();
  ASSERT_EQ(inventory.layers.size(), 3u);
  EXPECT_EQ(line(inventory.layers[1]), "b.down_proj mxfp4 [4,256] blocks [1,32] e2m1fn packed"
                                       "; scales b.down_proj_scales e8m0fnu");
  expectFindings({"scale-shape c.down_proj_scales"});
}

TEST_F(GptOssTest, ConfigureIsReadBack) {
  tensor("l.0.mlp.experts.down_proj_blocks", "U8", {3, 64, 1, 16});
  tensor("l.0.mlp.experts.down_proj_scales", "U8", {3, 64, 1});
  tensor("l.0.mlp.router.weight", "BF16", {3, 64});
  Json config, quantConfig;
  configure("gpt-oss",
            {{chosen("l.0.mlp.experts", "mxfp4", Activations::Kind::None)}, {"l.0.mlp.router"}},
            config, quantConfig);
  EXPECT_EQ(config.dump(), R"({"quantization_config":{"modules_to_not_convert":["l.0.mlp.router"],)"
                           R"("quant_method":"mxfp4"}})");
  this->config(config.dump());
  read();
  expectFindings({});
  expectLayers("gpt-oss", {"l.0.mlp.experts.down_proj mxfp4 [3,64,32] blocks [1,1,32] e2m1fn packed"
                           "; scales l.0.mlp.experts.down_proj_scales e8m0fnu"});
}

} // namespace
} // namespace octavo::checkpoint
