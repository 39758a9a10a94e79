// Names, dtypes and shapes are as ModelOpt exports them (export/quant_utils.py); both configuration
// files have its forms (export/convert_hf_config.py).
#include "octavo/Checkpoint/Layouts/LayoutFixture.h"

namespace octavo::checkpoint {
namespace {

class ModelOptTest : public LayoutFixture {
protected:
  void hf(const std::string& quantization) {
    config(R"({"producer":{"name":"modelopt","version":"0.29.0"},"quantization":)" + quantization +
               "}",
           "hf_quant_config.json");
  }
};

TEST_F(ModelOptTest, Fp8WithKvScales) {
  hf(R"({"quant_algo":"FP8","kv_cache_quant_algo":"FP8","exclude_modules":["lm_head","*router*"]})");
  tensor("model.layers.0.self_attn.k_proj.weight", "F8_E4M3", {4, 8});
  tensor("model.layers.0.self_attn.k_proj.weight_scale", "F32", {});
  tensor("model.layers.0.self_attn.k_proj.input_scale", "F32", {});
  tensor("model.layers.0.self_attn.k_proj.k_scale", "F32", {});
  tensor("model.layers.0.self_attn.v_proj.v_scale", "F32", {1});
  tensor("model.layers.0.mlp.router.weight", "BF16", {4, 8});
  read();
  expectLayers("modelopt", {"model.layers.0.self_attn.k_proj.weight fp8_tensor [4,8] blocks [4,8]"
                            " e4m3fn; scales model.layers.0.self_attn.k_proj.weight_scale f32"
                            "; input model.layers.0.self_attn.k_proj.input_scale f32"
                            "; static fp8_tensor"});
  expectFindings({});
  EXPECT_EQ(inventory.quantizer, "modelopt 0.29.0");
  EXPECT_EQ(inventory.kvCacheFormat, "fp8");
  ASSERT_EQ(inventory.kvScales.size(), 1u);
  EXPECT_EQ(inventory.kvScales[0].module, "model.layers.0.self_attn");
  EXPECT_TRUE(inventory.kvScales[0].key && inventory.kvScales[0].value);
}

TEST_F(ModelOptTest, Rows) {
  hf(R"({"quant_algo":"FP8_PER_CHANNEL_PER_TOKEN","exclude_modules":[]})");
  tensor("m.weight", "F8_E4M3", {4, 8});
  tensor("m.weight_scale", "F32", {4});
  read();
  expectLayers("modelopt", {"m.weight fp8_row [4,8] blocks [1,8] e4m3fn; scales m.weight_scale f32"
                            "; dynamic fp8_row"});
  expectFindings({});
}

TEST_F(ModelOptTest, BlocksOfRankFourAndTwo) {
  hf(R"({"quant_algo":"fp8_pb_wo","exclude_modules":[]})"); // as ModelOpt 0.47 writes it
  tensor("a.weight", "F8_E4M3", {256, 384});
  tensor("a.weight_scale", "F32", {2, 1, 3, 1});
  tensor("b.weight", "F8_E4M3", {256, 384});
  tensor("b.weight_scale", "F32", {2, 3});
  tensor("c.weight", "F8_E4M3", {256, 384});
  tensor("c.weight_scale_inv", "F32", {2, 3});
  tensor("d.weight", "F8_E4M3", {256, 384});
  tensor("d.weight_scale", "F32", {3, 1, 2, 1});
  read();
  expectLayers(
      "modelopt",
      {"a.weight fp8_block [256,384] blocks [128,128] e4m3fn; scales a.weight_scale f32",
       "b.weight fp8_block [256,384] blocks [128,128] e4m3fn; scales b.weight_scale f32",
       "c.weight fp8_block [256,384] blocks [128,128] e4m3fn; scales c.weight_scale_inv f32",
       "d.weight fp8_block [256,384] blocks [128,128] e4m3fn"});
  expectFindings({"other-spelling c.weight", "scale-shape d.weight_scale"});
}

TEST_F(ModelOptTest, Nvfp4FromConfigJson) {
  quantization(
      R"({"config_groups":{"group_0":{"input_activations":{"dynamic":false,"num_bits":4,)"
      R"("type":"float","group_size":16},"weights":{"dynamic":false,"num_bits":4,"type":"float",)"
      R"("group_size":16},"targets":["Linear"]}},"ignore":["lm_head"],"quant_algo":"NVFP4",)"
      R"("kv_cache_scheme":{"dynamic":false,"num_bits":8,"type":"float"},)"
      R"("producer":{"name":"modelopt","version":"0.35.0"},"quant_method":"modelopt"})");
  tensor("m.weight", "U8", {4, 32});
  tensor("m.weight_scale", "F8_E4M3", {4, 4});
  tensor("m.weight_scale_2", "F32", {});
  tensor("m.input_scale", "F32", {});
  read();
  expectLayers("modelopt", {"m.weight nvfp4 [4,64] blocks [1,16] e2m1fn packed"
                            "; scales m.weight_scale e4m3fn; outer m.weight_scale_2 f32"
                            "; input m.input_scale f32; static nvfp4"});
  expectFindings({});
  EXPECT_EQ(inventory.quantizer, "modelopt 0.35.0");
  EXPECT_EQ(inventory.kvCacheFormat, "fp8");
}

TEST_F(ModelOptTest, Mxfp8) {
  hf(R"({"quant_algo":"MXFP8","group_size":32,"exclude_modules":[]})");
  tensor("m.weight", "F8_E4M3", {4, 64});
  tensor("m.weight_scale", "U8", {4, 2});
  read();
  expectLayers("modelopt", {"m.weight mxfp8_e4m3 [4,64] blocks [1,32] e4m3fn"
                            "; scales m.weight_scale e8m0fnu; dynamic mxfp8_e4m3"});
  expectFindings({});
}

// Llama 4 and gpt-oss as ModelOpt exports them: the weight is transposed, packed along K, and
// transposed back, so the file has [E, K / 2, N] and [E, K / 16, N].
TEST_F(ModelOptTest, StackedExpertsLieAsTheModelHasThem) {
  hf(R"({"quant_algo":"NVFP4","group_size":16,"exclude_modules":[]})");
  tensor("experts.gate_up_proj", "U8", {2, 32, 8});
  tensor("experts.gate_up_proj_weight_scale", "F8_E4M3", {2, 4, 8});
  tensor("experts.gate_up_proj_weight_scale_2", "F32", {});
  tensor("experts.gate_up_proj_input_scale", "F32", {});
  read();
  expectLayers("modelopt", {"experts.gate_up_proj nvfp4 [2,8,64] blocks [1,1,16] e2m1fn packed"
                            "; scales experts.gate_up_proj_weight_scale e4m3fn"
                            "; outer experts.gate_up_proj_weight_scale_2 f32"
                            "; input experts.gate_up_proj_input_scale f32; static nvfp4"});
  expectFindings({});
  ASSERT_EQ(inventory.layers.size(), 1u);
  EXPECT_EQ(inventory.layers[0].storedAxes, StoredAxes::Swapped);
  EXPECT_EQ(inventory.layers[0].plainAxes, PlainAxes::Swapped);
}

TEST_F(ModelOptTest, StackedExpertsOfFp8LieAsTheModelHasThem) {
  hf(R"({"quant_algo":"FP8","exclude_modules":[]})");
  tensor("experts.down_proj", "F8_E4M3", {2, 64, 8});
  tensor("experts.down_proj_weight_scale", "F32", {});
  tensor("experts.down_proj_input_scale", "F32", {});
  read();
  expectLayers("modelopt", {"experts.down_proj fp8_tensor [2,8,64] blocks [2,8,64] e4m3fn"
                            "; scales experts.down_proj_weight_scale f32"
                            "; input experts.down_proj_input_scale f32; static fp8_tensor"});
  expectFindings({});
  EXPECT_EQ(inventory.layers[0].storedAxes, StoredAxes::Swapped);
}

TEST_F(ModelOptTest, StackedExpertsWithScalesEach) {
  hf(R"({"quant_algo":"NVFP4","group_size":16,"exclude_modules":[]})");
  tensor("experts.down_proj", "U8", {3, 32, 8});
  tensor("experts.down_proj_weight_scale", "F8_E4M3", {3, 4, 8});
  tensor("experts.down_proj_weight_scale_2", "F32", {3});
  tensor("experts.down_proj_input_scale", "F32", {3});
  tensor("experts.gate_up_proj", "U8", {3, 8, 32}); // [E, N, K / 2]
  tensor("experts.gate_up_proj_weight_scale", "F8_E4M3", {3, 8, 4});
  tensor("experts.gate_up_proj_weight_scale_2", "F32", {3, 2}); // one for gate and one for up
  tensor("experts.gate_up_proj_input_scale", "F32", {3, 1});
  read();
  expectLayers("modelopt", {"experts.down_proj nvfp4 [3,8,64] blocks [1,1,16] e2m1fn packed"
                            "; scales experts.down_proj_weight_scale e4m3fn"
                            "; outer experts.down_proj_weight_scale_2 f32"
                            "; input experts.down_proj_input_scale f32; static nvfp4",
                            "experts.gate_up_proj nvfp4 [3,8,64] blocks [1,1,16] e2m1fn packed"
                            "; scales experts.gate_up_proj_weight_scale e4m3fn"
                            "; input experts.gate_up_proj_input_scale f32; static nvfp4"});
  expectFindings({"scale-shape experts.gate_up_proj_weight_scale_2"});
  EXPECT_TRUE(findingSays("one for each of 3 experts"));
  EXPECT_EQ(inventory.layers[0].storedAxes, StoredAxes::Swapped);
  EXPECT_EQ(inventory.layers[1].storedAxes, StoredAxes::Same);
}

TEST_F(ModelOptTest, MixedPrecisionNamesItsLayers) {
  hf(R"({"quant_algo":"MIXED_PRECISION","exclude_modules":["m.d"],"quantized_layers":{)"
     R"("m.a":{"quant_algo":"FP8"},"m.b":{"quant_algo":"W4A16_NVFP4","group_size":16},)"
     R"("m.c":{"quant_algo":"NVFP4","group_size":16},"m.f":{"quant_algo":"W4A16_AWQ"}}})");
  tensor("m.a.weight", "F8_E4M3", {4, 16});
  tensor("m.a.weight_scale", "F32", {});
  tensor("m.a.input_scale", "F32", {});
  tensor("m.b.weight", "U8", {4, 8});
  tensor("m.b.weight_scale", "F8_E4M3", {4, 1});
  tensor("m.b.weight_scale_2", "F32", {});
  tensor("m.c.weight", "BF16", {4, 16});    // configured, but not quantized
  tensor("m.d.weight", "F8_E4M3", {4, 16}); // quantized, but not configured
  tensor("m.d.weight_scale", "F32", {});
  tensor("m.e.weight", "BF16", {4, 16});
  read();
  expectLayers(
      "modelopt",
      {"m.a.weight fp8_tensor [4,16] blocks [4,16] e4m3fn; scales m.a.weight_scale f32"
       "; input m.a.input_scale f32; static fp8_tensor",
       "m.b.weight nvfp4 [4,16] blocks [1,16] e2m1fn packed; scales m.b.weight_scale e4m3fn"
       "; outer m.b.weight_scale_2 f32",
       "m.d.weight fp8_tensor [4,16] blocks [4,16] e4m3fn; scales m.d.weight_scale f32"});
  expectFindings({"unsupported-format", "ignored-layer-quantized m.d.weight",
                  "configuration-mismatch m.c.weight"});
}

TEST_F(ModelOptTest, LabelledNvfp4StoredFp8) {
  hf(R"({"quant_algo":"NVFP4","group_size":16,"exclude_modules":[]})");
  tensor("m.weight", "F8_E4M3", {4, 16});
  tensor("m.weight_scale", "F32", {});
  read();
  expectLayers("modelopt", {"m.weight fp8_tensor [4,16] blocks [4,16] e4m3fn"
                            "; scales m.weight_scale f32; static nvfp4"});
  expectFindings({"missing-input-scale m.weight", "configuration-mismatch m.weight"});
}

TEST_F(ModelOptTest, TwoFilesThatDisagree) {
  quantization(R"({"quant_method":"modelopt","quant_algo":"FP8","ignore":[]})");
  hf(R"({"quant_algo":"NVFP4","exclude_modules":[]})");
  tensor("m.weight", "F8_E4M3", {4, 16});
  tensor("m.weight_scale", "F32", {});
  tensor("m.input_scale", "F32", {});
  read();
  expectFindings({"bad-configuration"});
}

TEST_F(ModelOptTest, ConfigureIsReadBackFromEitherFile) {
  const LayoutChoice mixed = {{chosen("l.0.a", "nvfp4", Activations::Kind::Static),
                               chosen("l.0.b", "fp8_tensor", Activations::Kind::Static)},
                              {"l.0.c"},
                              true};
  const LayoutChoice single = {{chosen("l.0.b", "fp8_tensor", Activations::Kind::Static)},
                               {"l.0.c"}};
  for (const bool onlyHf : {false, true})
    for (const LayoutChoice* choice : {&mixed, &single}) {
      findings.clear();
      header.clear();
      size = 0;
      if (choice == &mixed) {
        tensor("l.0.a.weight", "U8", {4, 8});
        tensor("l.0.a.weight_scale", "F8_E4M3", {4, 1});
        tensor("l.0.a.weight_scale_2", "F32", {});
        tensor("l.0.a.input_scale", "F32", {});
      }
      tensor("l.0.b.weight", "F8_E4M3", {4, 16});
      tensor("l.0.b.weight_scale", "F32", {});
      tensor("l.0.b.input_scale", "F32", {});
      tensor("l.0.c.weight", "BF16", {4, 16});
      Json config = {{"model_type", "llama"}}, quantConfig;
      configure("modelopt", *choice, config, quantConfig);
      this->config(onlyHf ? R"({"model_type":"llama"})" : config.dump());
      this->config(quantConfig.dump(), "hf_quant_config.json");
      read();
      expectFindings({});
      ASSERT_EQ(inventory.layers.size(), choice->layers.size());
      for (std::size_t i = 0; i < choice->layers.size(); ++i) {
        EXPECT_EQ(inventory.layers[i].name, choice->layers[i].module);
        EXPECT_EQ(inventory.layers[i].format, choice->layers[i].format);
        EXPECT_EQ(inventory.layers[i].activations.kind, Activations::Kind::Static);
      }
      EXPECT_EQ(inventory.kvCacheFormat, choice->kvScales ? "fp8" : "");
    }
}

} // namespace
} // namespace octavo::checkpoint
