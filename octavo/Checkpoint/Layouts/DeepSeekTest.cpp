// Names, dtypes and shapes are as in DeepSeek-V3 (README_WEIGHTS.md) and in the released
// checkpoints of DeepSeek-V4.
#include "octavo/Checkpoint/Layouts/LayoutFixture.h"

namespace octavo::checkpoint {
namespace {

class DeepSeekTest : public LayoutFixture {};

constexpr const char* kBlock =
    R"({"activation_scheme":"dynamic","fmt":"e4m3","quant_method":"fp8",)"
    R"("weight_block_size":[128,128]})";

TEST_F(DeepSeekTest, RaggedBlocks) {
  quantization(kBlock);
  tensor("model.layers.3.mlp.experts.17.down_proj.weight", "F8_E4M3", {300, 129});
  tensor("model.layers.3.mlp.experts.17.down_proj.weight_scale_inv", "F32", {3, 2});
  tensor("model.layers.3.self_attn.q_a_proj.weight", "F8_E4M3", {128, 256});
  tensor("model.layers.3.self_attn.q_a_proj.weight_scale_inv", "F32", {1, 2});
  tensor("model.layers.3.mlp.gate.weight", "BF16", {64, 256});
  read();
  expectLayers("deepseek", {"model.layers.3.mlp.experts.17.down_proj.weight fp8_block [300,129]"
                            " blocks [128,128] e4m3fn"
                            "; scales model.layers.3.mlp.experts.17.down_proj.weight_scale_inv f32"
                            "; dynamic fp8_group",
                            "model.layers.3.self_attn.q_a_proj.weight fp8_block [128,256]"
                            " blocks [128,128] e4m3fn"
                            "; scales model.layers.3.self_attn.q_a_proj.weight_scale_inv f32"
                            "; dynamic fp8_group"});
  expectFindings({}); // DeepSeek's code keeps the router plain
}

TEST_F(DeepSeekTest, PowersOfTwoAsF32OrE8M0) {
  quantization(R"({"activation_scheme":"dynamic","fmt":"e4m3","quant_method":"fp8",)"
               R"("scale_fmt":"ue8m0","weight_block_size":[128,128]})");
  tensor("a.weight", "F8_E4M3", {256, 128});
  tensor("a.weight_scale_inv", "F32", {2, 1});
  tensor("b.weight", "F8_E4M3", {256, 128});
  tensor("b.scale", "F8_E8M0", {2, 1});
  read();
  expectLayers("deepseek", {"a.weight fp8_block [256,128] blocks [128,128] e4m3fn"
                            "; scales a.weight_scale_inv f32; dynamic fp8_group",
                            "b.weight e4m3fn/e8m0fnu [256,128] blocks [128,128] e4m3fn"
                            "; scales b.scale e8m0fnu; dynamic fp8_group"});
  expectFindings({});
}

TEST_F(DeepSeekTest, FourBitExpertsBesideEightBits) {
  config(R"({"expert_dtype":"fp4","quantization_config":{"quant_method":"fp8","fmt":"e4m3",)"
         R"("activation_scheme":"dynamic","scale_fmt":"ue8m0","weight_block_size":[128,128]}})");
  tensor("layers.0.attn.wq_a.weight", "F8_E4M3", {256, 384});
  tensor("layers.0.attn.wq_a.scale", "F8_E8M0", {2, 3});
  tensor("layers.0.ffn.experts.0.w1.weight", "I8", {64, 48});
  tensor("layers.0.ffn.experts.0.w1.scale", "F8_E8M0", {64, 3});
  read();
  expectLayers("deepseek",
               {"layers.0.attn.wq_a.weight e4m3fn/e8m0fnu [256,384]"
                " blocks [128,128] e4m3fn; scales layers.0.attn.wq_a.scale e8m0fnu"
                "; dynamic fp8_group",
                "layers.0.ffn.experts.0.w1.weight mxfp4 [64,96] blocks [1,32] e2m1fn packed"
                "; scales layers.0.ffn.experts.0.w1.scale e8m0fnu; dynamic fp8_group"});
  expectFindings({});
}

TEST_F(DeepSeekTest, OtherBlocksAndStackedExperts) {
  quantization(R"({"activation_scheme":"dynamic","quant_method":"fp8","weight_block_size":[64,32],)"
               R"("modules_to_not_convert":["lm_head","model.layers.*.gate"]})");
  tensor("model.layers.0.gate.weight", "BF16", {4, 64});
  tensor("experts.gate_up_proj", "F8_E4M3", {2, 128, 65});
  tensor("experts.gate_up_proj_scale_inv", "F32", {2, 2, 3});
  read();
  expectLayers("deepseek", {"experts.gate_up_proj e4m3fn/f32 [2,128,65] blocks [1,64,32] e4m3fn"
                            "; scales experts.gate_up_proj_scale_inv f32; dynamic fp8_group"});
  expectFindings({});
}

TEST_F(DeepSeekTest, MiniMaxMxfp8) {
  quantization(
      R"({"quant_method":"mxfp8","activation_scheme":"dynamic","weight_block_size":[1,32],)"
      R"("ignored_layers":["lm_head","model.layers.0.gate"]})");
  tensor("model.layers.0.q_proj.weight", "F8_E4M3", {4, 64});
  tensor("model.layers.0.q_proj.weight_scale_inv", "U8", {4, 2});
  tensor("model.layers.0.gate.weight", "F32", {4, 64});
  read();
  expectLayers("deepseek", {"model.layers.0.q_proj.weight mxfp8_e4m3 [4,64] blocks [1,32] e4m3fn"
                            "; scales model.layers.0.q_proj.weight_scale_inv e8m0fnu"
                            "; dynamic mxfp8_e4m3"});
  expectFindings({});
}

TEST_F(DeepSeekTest, BytesAreE8M0OnlyWhereTheShapeSaysSo) {
  // A U8 grid of 32 along K is MXFP8, whatever the block size states; one of 128 x 128 fits no
  // format.
  quantization(kBlock);
  tensor("a.weight", "F8_E4M3", {128, 128});
  tensor("a.weight_scale_inv", "U8", {128, 4});
  tensor("b.weight", "F8_E4M3", {128, 128});
  tensor("b.weight_scale_inv", "U8", {1, 1});
  read();
  expectLayers("deepseek", {"a.weight mxfp8_e4m3 [128,128] blocks [1,32] e4m3fn"
                            "; scales a.weight_scale_inv e8m0fnu; dynamic fp8_group",
                            "b.weight fp8_block [128,128] blocks [128,128] e4m3fn"
                            "; dynamic fp8_group"});
  expectFindings({"configuration-mismatch a.weight", "scale-dtype b.weight_scale_inv"});
}

TEST_F(DeepSeekTest, TheOtherNameIsReadAndReported) {
  quantization(kBlock);
  tensor("a.weight", "F8_E4M3", {256, 128});
  tensor("a.weight_scale", "F32", {2, 1});
  read();
  expectLayers("deepseek", {"a.weight fp8_block [256,128] blocks [128,128] e4m3fn"
                            "; scales a.weight_scale f32; dynamic fp8_group"});
  expectFindings({"other-spelling a.weight"});
}

TEST_F(DeepSeekTest, BlockSizesThatAreNone) {
  for (const char* size :
       {"[128]", "[0,128]", "[-1,128]", "\"128\"", "[1e9,1]", "[128,99999999999]"}) {
    findings.clear();
    header.clear();
    this->size = 0;
    quantization(std::string(R"({"quant_method":"fp8","weight_block_size":)") + size + "}");
    tensor("a.weight", "F8_E4M3", {256, 128});
    tensor("a.weight_scale_inv", "F32", {2, 1});
    read();
    ASSERT_FALSE(findings.empty()) << size;
    EXPECT_EQ(findings[0].rule.text(), "bad-configuration") << size;
  }
}

TEST_F(DeepSeekTest, ConfigureIsReadBack) {
  tensor("a.weight", "F8_E4M3", {256, 128});
  tensor("a.weight_scale_inv", "F32", {2, 1});
  tensor("b.weight", "BF16", {256, 128});
  Json config, quantConfig;
  configure("deepseek", {{chosen("a", "fp8_block", Activations::Kind::Dynamic)}, {"b"}, false},
            config, quantConfig);
  EXPECT_EQ(config.dump(), R"({"quantization_config":{"activation_scheme":"dynamic","fmt":"e4m3",)"
                           R"("quant_method":"fp8","weight_block_size":[128,128],)"
                           R"("modules_to_not_convert":["b"]}})");
  this->config(config.dump());
  read();
  expectFindings({});
  expectLayers("deepseek", {"a.weight fp8_block [256,128] blocks [128,128] e4m3fn"
                            "; scales a.weight_scale_inv f32; dynamic fp8_group"});
}

} // namespace
} // namespace octavo::checkpoint
