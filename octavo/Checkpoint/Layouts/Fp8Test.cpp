// Names, dtypes and shapes are as AutoFP8 (auto_fp8/quantize.py) and vLLM (fp8.py) define them.
#include "octavo/Checkpoint/Layouts/LayoutFixture.h"

namespace octavo::checkpoint {
namespace {

using Lines = std::vector<std::string>;

class Fp8Test : public LayoutFixture {};

TEST_F(Fp8Test, StaticWithKvScales) {
  quantization(R"({"quant_method":"fp8","activation_scheme":"static",)"
               R"("ignored_layers":["lm_head"],"kv_cache_scheme":"static"})");
  tensor("model.layers.0.self_attn.q_proj.weight", "F8_E4M3", {6, 8});
  tensor("model.layers.0.self_attn.q_proj.weight_scale", "F32", {});
  tensor("model.layers.0.self_attn.q_proj.input_scale", "F32", {});
  tensor("model.layers.0.self_attn.k_scale", "F32", {});
  tensor("model.layers.0.self_attn.v_scale", "F32", {});
  tensor("model.layers.0.input_layernorm.weight", "BF16", {8});
  tensor("lm_head.weight", "BF16", {16, 8});
  read();
  expectLayers("fp8", {"model.layers.0.self_attn.q_proj.weight fp8_tensor [6,8] blocks [6,8] e4m3fn"
                       "; scales model.layers.0.self_attn.q_proj.weight_scale f32"
                       "; input model.layers.0.self_attn.q_proj.input_scale f32"
                       "; static fp8_tensor"});
  expectFindings({});
  EXPECT_EQ(plainNames(), (Lines{"model.layers.0.input_layernorm.weight", "lm_head.weight"}));
  EXPECT_EQ(inventory.kvCacheFormat, "fp8");
  ASSERT_EQ(inventory.kvScales.size(), 1u);
  EXPECT_EQ(inventory.kvScales[0].module, "model.layers.0.self_attn");
  EXPECT_EQ(inventory.kvScales[0].key->tensor.name(), "model.layers.0.self_attn.k_scale");
  EXPECT_EQ(inventory.kvScales[0].value->tensor.name(), "model.layers.0.self_attn.v_scale");
  EXPECT_FALSE(inventory.kvScales[0].query);
}

TEST_F(Fp8Test, Dynamic) {
  quantization(R"({"quant_method":"fp8","activation_scheme":"dynamic","ignored_layers":[]})");
  tensor("m.weight", "F8_E4M3", {6, 8});
  tensor("m.weight_scale", "F32", {1});
  read();
  expectLayers("fp8", {"m.weight fp8_tensor [6,8] blocks [6,8] e4m3fn; scales m.weight_scale f32"
                       "; dynamic fp8_tensor"});
  expectFindings({});
}

TEST_F(Fp8Test, OldKvScaleStandsForBoth) {
  quantization(R"({"quant_method":"fp8","activation_scheme":"dynamic"})");
  tensor("layers.0.self_attn.kv_scale", "F32", {});
  tensor("layers.0.k_proj.weight", "F8_E4M3", {2, 2});
  tensor("layers.0.k_proj.weight_scale", "F32", {});
  read();
  ASSERT_EQ(inventory.kvScales.size(), 1u);
  EXPECT_EQ(inventory.kvScales[0].key->tensor.name(), "layers.0.self_attn.kv_scale");
  EXPECT_EQ(inventory.kvScales[0].value->tensor.name(), "layers.0.self_attn.kv_scale");
}

TEST_F(Fp8Test, ExpertsApartAndStacked) {
  quantization(R"({"quant_method":"fp8","activation_scheme":"dynamic"})");
  tensor("layers.0.mlp.experts.3.down_proj.weight", "F8_E4M3", {4, 6});
  tensor("layers.0.mlp.experts.3.down_proj.weight_scale", "F32", {});
  tensor("layers.1.mlp.experts.gate_up_proj", "F8_E4M3", {3, 4, 6});
  tensor("layers.1.mlp.experts.gate_up_proj_scale", "F32", {3, 1, 1});
  read();
  expectLayers("fp8",
               {"layers.0.mlp.experts.3.down_proj.weight fp8_tensor [4,6] blocks [4,6] e4m3fn"
                "; scales layers.0.mlp.experts.3.down_proj.weight_scale f32"
                "; dynamic fp8_tensor",
                "layers.1.mlp.experts.gate_up_proj e4m3fn/f32 [3,4,6] blocks [1,4,6] e4m3fn"
                "; scales layers.1.mlp.experts.gate_up_proj_scale f32"
                "; dynamic fp8_tensor"});
  expectFindings({});
}

TEST_F(Fp8Test, OtherEightBitElementsAreWhatTheirDtypeSays) {
  quantization(R"({"quant_method":"fp8","activation_scheme":"dynamic"})");
  tensor("a.weight", "F8_E4M3FNUZ", {2, 2});
  tensor("a.weight_scale", "F32", {});
  tensor("b.weight", "F8_E5M2", {2, 2});
  tensor("b.weight_scale", "F32", {});
  read();
  expectLayers("fp8",
               {"a.weight e4m3fnuz/f32 [2,2] blocks [2,2] e4m3fnuz; scales a.weight_scale f32"
                "; dynamic fp8_tensor",
                "b.weight fp8_e5m2_tensor [2,2] blocks [2,2] e5m2; scales b.weight_scale f32"
                "; dynamic fp8_tensor"});
}

TEST_F(Fp8Test, WhatDoesNotFitIsFound) {
  quantization(R"({"quant_method":"fp8","activation_scheme":"static",)"
               R"("ignored_layers":["layers.9.gone","layers.0.hidden"]})");
  tensor("layers.0.lost.weight", "F8_E4M3", {2, 2});
  tensor("layers.0.lost.input_scale", "F32", {});
  tensor("layers.0.noinput.weight", "F8_E4M3", {2, 2});
  tensor("layers.0.noinput.weight_scale", "F32", {});
  tensor("layers.0.orphan.weight_scale", "F32", {});
  tensor("layers.0.plain.weight", "BF16", {2, 2});
  tensor("layers.0.hidden.weight", "F8_E4M3", {2, 2});
  tensor("layers.0.hidden.weight_scale", "F32", {});
  tensor("layers.0.hidden.input_scale", "F32", {});
  tensor("layers.0.shape.weight", "F8_E4M3", {2, 2});
  tensor("layers.0.shape.weight_scale", "F32", {3});
  tensor("layers.0.shape.input_scale", "F32", {});
  tensor("layers.0.dtype.weight", "F8_E4M3", {2, 2});
  tensor("layers.0.dtype.weight_scale", "I32", {});
  tensor("layers.0.dtype.input_scale", "F32", {});
  tensor("layers.0.int.weight", "I8", {2, 2});
  tensor("layers.0.int.weight_scale", "F32", {});
  tensor("layers.0.int.input_scale", "F32", {});
  tensor("logit_scale", "F32", {});
  read();
  expectFindings(
      {"scale-dtype layers.0.dtype.weight_scale", "ignored-layer-quantized layers.0.hidden.weight",
       "unsupported-format layers.0.int.weight", "missing-scale layers.0.lost.weight",
       "missing-input-scale layers.0.noinput.weight", "scale-shape layers.0.shape.weight_scale",
       "orphan-scale layers.0.orphan.weight_scale", "unquantized-layer layers.0.plain.weight",
       "ignore-matches-nothing"});
  EXPECT_EQ(inventory.layers.size(), 5u); // all except the integers
  for (const Layer& layer : inventory.layers)
    EXPECT_EQ(layer.scales.has_value(),
              layer.name == "layers.0.hidden" || layer.name == "layers.0.noinput")
        << layer.name;
}

TEST_F(Fp8Test, ConfigureIsReadBack) {
  tensor("layers.0.a.weight", "F8_E4M3", {2, 2});
  tensor("layers.0.a.weight_scale", "F32", {});
  tensor("layers.0.a.input_scale", "F32", {});
  tensor("layers.0.b.weight", "BF16", {2, 2});
  Json config = {{"model_type", "llama"}, {"compression_config", {{"quant_method", "x"}}}};
  Json quantConfig = {{"quantization", nullptr}};
  configure("fp8",
            {{chosen("layers.0.a", "fp8_tensor", Activations::Kind::Static)}, {"layers.0.b"}, true},
            config, quantConfig);
  EXPECT_TRUE(quantConfig.is_null());
  EXPECT_EQ(config.dump(), R"({"model_type":"llama","quantization_config":{"quant_method":"fp8",)"
                           R"("activation_scheme":"static","ignored_layers":["layers.0.b"],)"
                           R"("kv_cache_scheme":"static"}})");
  this->config(config.dump());
  read();
  expectFindings({});
  expectLayers("fp8", {"layers.0.a.weight fp8_tensor [2,2] blocks [2,2] e4m3fn"
                       "; scales layers.0.a.weight_scale f32; input layers.0.a.input_scale f32"
                       "; static fp8_tensor"});
  EXPECT_EQ(inventory.kvCacheFormat, "fp8");
}

} // namespace
} // namespace octavo::checkpoint
