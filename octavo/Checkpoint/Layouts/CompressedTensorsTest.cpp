// Names, dtypes and shapes are as compressed-tensors writes them (compressors/, quant_scheme.py).
#include "octavo/Checkpoint/Layouts/LayoutFixture.h"

namespace octavo::checkpoint {
namespace {

class CompressedTensorsTest : public LayoutFixture {
protected:
  /// Configures one group for every Linear.
  void group(const std::string& format, const std::string& weights,
             const std::string& input = "null") {
    quantization(R"({"quant_method":"compressed-tensors","format":")" + format +
                 R"(","quantization_status":"compressed","ignore":["lm_head"],"version":"0.20.0",)"
                 R"("kv_cache_scheme":null,"config_groups":{"group_0":{"targets":["Linear"],)"
                 R"("weights":)" +
                 weights + R"(,"input_activations":)" + input +
                 R"(,"output_activations":null,"format":")" + format + R"("}}})");
  }
  static std::string arguments(int bits, const std::string& strategy, const std::string& more = "",
                               const std::string& dynamic = "false") {
    return fmt::format(
        R"({{"num_bits":{},"type":"float","symmetric":true,"strategy":"{}","dynamic":{}{}}})", bits,
        strategy, dynamic, more);
  }
};

TEST_F(CompressedTensorsTest, PerTensorStatic) {
  group("float-quantized", arguments(8, "tensor"), arguments(8, "tensor"));
  tensor("m.weight", "F8_E4M3", {4, 6});
  tensor("m.weight_scale", "BF16", {1});
  tensor("m.input_scale", "BF16", {1});
  read();
  expectLayers("compressed-tensors",
               {"m.weight fp8_tensor [4,6] blocks [4,6] e4m3fn; scales m.weight_scale bf16"
                "; input m.input_scale bf16; static fp8_tensor"});
  expectFindings({});
  EXPECT_EQ(inventory.quantizer, "compressed-tensors 0.20.0");
}

TEST_F(CompressedTensorsTest, PerChannelDynamic) {
  group("float-quantized", arguments(8, "channel"), arguments(8, "token", "", "true"));
  tensor("m.weight", "F8_E4M3", {4, 6});
  tensor("m.weight_scale", "BF16", {4, 1});
  read();
  expectLayers("compressed-tensors",
               {"m.weight fp8_row [4,6] blocks [1,6] e4m3fn; scales m.weight_scale bf16"
                "; dynamic fp8_row"});
  expectFindings({});
}

// If one list of patterns takes too long, no steps remain for the other lists of the configuration.
// Separate budgets would let the time grow with the number of groups.
TEST_F(CompressedTensorsTest, AllPatternsOfAConfigurationShareTheirSteps) {
  const std::string module = std::string(60, 'a') + "!"; // exponential in its length
  quantization(R"({"quant_method":"compressed-tensors","format":"float-quantized",)"
               R"("quantization_status":"compressed","ignore":["re:(?!x)((a+)+)+$"],)"
               R"("config_groups":{"group_0":{"targets":["re:(?!x)a"],"weights":)" +
               arguments(8, "tensor") + R"(,"input_activations":null}}})");
  tensor(module + ".weight", "F8_E4M3", {4, 6});
  tensor(module + ".weight_scale", "BF16", {1});
  read();
  EXPECT_TRUE(findingSays("ignore has \"re:(?!x)((a+)+)+$\", which takes too many steps"));
  EXPECT_TRUE(findingSays("targets has \"re:(?!x)a\", which takes too many steps"));
}

TEST_F(CompressedTensorsTest, GroupsAndBlocks) {
  group("float-quantized", arguments(8, "block", R"(,"block_structure":[128,128])"),
        arguments(8, "group", R"(,"group_size":128)", "true"));
  tensor("m.weight", "F8_E4M3", {256, 384});
  tensor("m.weight_scale", "BF16", {2, 3});
  read();
  expectLayers("compressed-tensors",
               {"m.weight fp8_block [256,384] blocks [128,128] e4m3fn; scales m.weight_scale bf16"
                "; dynamic fp8_group"});
  expectFindings({});
}

TEST_F(CompressedTensorsTest, GroupsOfAnySize) {
  group("float-quantized", arguments(8, "group", R"(,"group_size":64)"));
  tensor("m.weight", "F8_E4M3", {4, 256});
  tensor("m.weight_scale", "F16", {4, 4});
  read();
  expectLayers("compressed-tensors", {"m.weight e4m3fn/f32 [4,256] blocks [1,64] e4m3fn"
                                      "; scales m.weight_scale f16"});
  expectFindings({});
}

TEST_F(CompressedTensorsTest, Nvfp4) {
  group("nvfp4-pack-quantized",
        arguments(4, "tensor_group", R"(,"group_size":16,"scale_dtype":"torch.float8_e4m3fn")"),
        arguments(4, "tensor_group", R"(,"group_size":16)", "\"local\""));
  tensor("m.weight_packed", "U8", {4, 32});
  tensor("m.weight_scale", "F8_E4M3", {4, 4});
  tensor("m.weight_global_scale", "F32", {1});
  tensor("m.input_global_scale", "F32", {1});
  read();
  expectLayers("compressed-tensors",
               {"m.weight nvfp4 [4,64] blocks [1,16] e2m1fn packed; scales m.weight_scale e4m3fn"
                "; outer m.weight_global_scale f32 divides"
                "; input m.input_global_scale f32 divides; static nvfp4"});
  expectFindings({});
}

TEST_F(CompressedTensorsTest, Mx) {
  const std::string bytes = R"(,"group_size":32,"scale_dtype":"torch.uint8")";
  quantization(R"({"quant_method":"compressed-tensors","format":"mixed-precision","ignore":[],)"
               R"("config_groups":{"a":{"targets":["re:.*\\.a$"],"weights":)" +
               arguments(4, "group", bytes) +
               R"(,"format":"mxfp4-pack-quantized"},"b":{"targets":["m.b"],)" + R"("weights":)" +
               arguments(8, "group", bytes) + R"(,"input_activations":)" +
               arguments(8, "group", bytes, "true") +
               R"(,"format":"mxfp8-quantized"},"c":{"targets":["Linear"],"weights":)" +
               arguments(6, "group", bytes) + R"(,"format":"mxfp6-pack-quantized"}}})");
  tensor("m.a.weight_packed", "U8", {4, 32});
  tensor("m.a.weight_scale", "U8", {4, 2});
  tensor("m.b.weight", "F8_E4M3", {4, 64});
  tensor("m.b.weight_scale", "U8", {4, 2});
  tensor("m.c.weight_packed", "U8", {4, 48});
  tensor("m.c.weight_scale", "U8", {4, 2});
  read();
  expectLayers(
      "compressed-tensors",
      {"m.a.weight mxfp4 [4,64] blocks [1,32] e2m1fn packed; scales m.a.weight_scale e8m0fnu",
       "m.b.weight mxfp8_e4m3 [4,64] blocks [1,32] e4m3fn; scales m.b.weight_scale e8m0fnu"
       "; dynamic mxfp8_e4m3",
       "m.c.weight mxfp6_e2m3 [4,64] blocks [1,32] e2m3fn packed"
       "; scales m.c.weight_scale e8m0fnu"});
  expectFindings({});
}

TEST_F(CompressedTensorsTest, PresetsByName) {
  quantization(R"({"quant_method":"compressed-tensors","config_groups":{"FP8_DYNAMIC":["m.a"],)"
               R"("NVFP4A16":["re:m.b"]}})");
  tensor("m.a.weight", "F8_E4M3", {4, 16});
  tensor("m.a.weight_scale", "BF16", {4, 1});
  tensor("m.b.weight_packed", "U8", {4, 8});
  tensor("m.b.weight_scale", "F8_E4M3", {4, 1});
  tensor("m.b.weight_global_scale", "F32", {1});
  read();
  expectLayers(
      "compressed-tensors",
      {"m.a.weight fp8_row [4,16] blocks [1,16] e4m3fn; scales m.a.weight_scale bf16"
       "; dynamic fp8_row",
       "m.b.weight nvfp4 [4,16] blocks [1,16] e2m1fn packed; scales m.b.weight_scale e4m3fn"
       "; outer m.b.weight_global_scale f32 divides"});
  expectFindings({});
}

TEST_F(CompressedTensorsTest, LabelledNvfp4StoredFp8) {
  group("nvfp4-pack-quantized", arguments(4, "tensor_group", R"(,"group_size":16)"));
  tensor("m.weight", "F8_E4M3", {4, 16});
  tensor("m.weight_scale", "F32", {4, 1});
  read();
  expectLayers("compressed-tensors",
               {"m.weight fp8_row [4,16] blocks [1,16] e4m3fn; scales m.weight_scale f32"});
  expectFindings({"configuration-mismatch m.weight"});
  EXPECT_TRUE(findingSays("config_groups.group_0 says nvfp4; stored is fp8_row"));
}

TEST_F(CompressedTensorsTest, WhatDoesNotFitIsFound) {
  group("nvfp4-pack-quantized", arguments(4, "tensor_group", R"(,"group_size":16)"));
  tensor("m.0.noouter.weight_packed", "U8", {4, 8});
  tensor("m.0.noouter.weight_scale", "F8_E4M3", {4, 1});
  tensor("m.0.bytes.weight_packed", "U8", {4, 8});
  tensor("m.0.bytes.weight_scale", "U8", {4, 1}); // E4M3 under another dtype: refused
  tensor("m.0.bytes.weight_global_scale", "F32", {1});
  tensor("m.0.outer.weight_packed", "U8", {4, 8});
  tensor("m.0.outer.weight_scale", "F8_E4M3", {4, 1});
  tensor("m.0.outer.weight_global_scale", "F32", {4});
  tensor("m.0.int4.weight_packed", "I32", {4, 2});
  tensor("m.0.int4.weight_scale", "BF16", {4, 1});
  tensor("m.0.gone.weight_global_scale", "F32", {1});
  tensor("m.0.plain.weight", "BF16", {4, 16});
  tensor("m.0.scaled.weight", "BF16", {4, 16});
  tensor("m.0.scaled.weight_scale", "F8_E4M3", {4, 1});
  read();
  expectFindings(
      {"scale-dtype m.0.bytes.weight_scale", "unsupported-format m.0.int4.weight_packed",
       "missing-outer-scale m.0.noouter.weight_packed", "scale-shape m.0.outer.weight_global_scale",
       "orphan-scale m.0.gone.weight_global_scale", "orphan-scale m.0.scaled.weight_scale",
       "unquantized-layer m.0.plain.weight", "unquantized-layer m.0.scaled.weight"});
}

TEST_F(CompressedTensorsTest, BadConfigurations) {
  quantization(R"j({"quant_method":"compressed-tensors","ignore":["re:(","re:x(?!y","no.such"],)j"
               R"j("config_groups":{"g":{"targets":["Linear"],"extra":1,"weights":{"num_bits":8,)j"
               R"j("type":"float","strategy":"tensor","bogus":2}},"h":{"targets":["n.q"],)j"
               R"j("weights":{"num_bits":4,"type":"int"}},"NO_PRESET":["x"]}})j");
  tensor("m.weight", "F8_E4M3", {4, 16});
  tensor("m.weight_scale", "F32", {});
  read();
  expectFindings({"bad-pattern", "bad-pattern", "bad-configuration", "bad-configuration",
                  "unsupported-format", "unsupported-format", "ignore-matches-nothing",
                  "ignore-matches-nothing", "ignore-matches-nothing"});
  EXPECT_TRUE(findingSays("config_groups.g has the key \"extra\""));
  EXPECT_TRUE(findingSays("config_groups.g.weights has the key \"bogus\""));
}

TEST_F(CompressedTensorsTest, ConfigureIsReadBack) {
  tensor("l.0.a.weight_packed", "U8", {4, 8});
  tensor("l.0.a.weight_scale", "F8_E4M3", {4, 1});
  tensor("l.0.a.weight_global_scale", "F32", {1});
  tensor("l.0.a.input_global_scale", "F32", {1});
  tensor("l.0.b.weight", "F8_E4M3", {4, 64});
  tensor("l.0.b.weight_scale", "U8", {4, 2});
  tensor("l.0.c.weight", "F8_E4M3", {4, 64});
  tensor("l.0.c.weight_scale", "BF16", {1, 1});
  tensor("l.0.d.weight", "BF16", {4, 64});
  Json config, quantConfig;
  configure("compressed-tensors",
            {{chosen("l.0.a", "nvfp4", Activations::Kind::Static),
              chosen("l.0.b", "mxfp8_e4m3", Activations::Kind::Static),
              chosen("l.0.c", "fp8_block", Activations::Kind::Static)},
             {"l.0.d"},
             true},
            config, quantConfig);
  this->config(config.dump());
  read();
  expectFindings({});
  expectLayers(
      "compressed-tensors",
      {"l.0.a.weight nvfp4 [4,16] blocks [1,16] e2m1fn packed; scales l.0.a.weight_scale e4m3fn"
       "; outer l.0.a.weight_global_scale f32 divides"
       "; input l.0.a.input_global_scale f32 divides; static nvfp4",
       "l.0.b.weight mxfp8_e4m3 [4,64] blocks [1,32] e4m3fn; scales l.0.b.weight_scale e8m0fnu"
       "; dynamic mxfp8_e4m3",
       "l.0.c.weight fp8_block [4,64] blocks [4,64] e4m3fn; scales l.0.c.weight_scale bf16"
       "; dynamic fp8_group"});
  EXPECT_EQ(inventory.kvCacheFormat, "fp8");
}

} // namespace
} // namespace octavo::checkpoint
