// Names, dtypes and shapes are as Quark exports them (torch/export, torch/utils/pack.py).
#include "octavo/Checkpoint/Layouts/LayoutFixture.h"

namespace octavo::checkpoint {
namespace {

class QuarkTest : public LayoutFixture {
protected:
  static std::string tensorSpec(const std::string& dtype, const std::string& scheme,
                                const std::string& group = "null", bool dynamic = false) {
    return fmt::format(
        R"({{"dtype":"{}","qscheme":"{}","group_size":{},"ch_axis":-1,"scale_format":{},)"
        R"("scale_calculation_mode":"even","is_dynamic":{},"round_method":"half_even",)"
        R"("symmetric":null,"observer_cls":"PerBlockMXObserver"}})",
        dtype, scheme, group, group == "32" ? "\"e8m0\"" : "null", dynamic);
  }
  static std::string layer(const std::string& weight, const std::string& input = "null") {
    return R"({"weight":)" + weight + R"(,"input_tensors":)" + input +
           R"(,"output_tensors":null,"bias":null})";
  }
  void quark(const std::string& global, const std::string& layers = "{}",
             const std::string& exclude = R"(["lm_head"])") {
    quantization(R"({"quant_method":"quark","global_quant_config":)" + global + R"(,"exclude":)" +
                 exclude + R"(,"layer_quant_config":)" + layers +
                 R"(,"layer_type_quant_config":{},"export":{"kv_cache_group":[],)" +
                 R"("pack_method":"reorder","weight_format":"real_quantized"}})");
  }
};

TEST_F(QuarkTest, Fp8PerTensorAndPerChannel) {
  quark(layer(tensorSpec("fp8_e4m3", "per_tensor"), tensorSpec("fp8_e4m3", "per_tensor")),
        R"({"*.down_proj":)" + layer(tensorSpec("fp8_e4m3", "per_channel")) + "}");
  tensor("l.0.k_proj.weight", "F8_E4M3", {4, 8});
  tensor("l.0.k_proj.weight_scale", "BF16", {});
  tensor("l.0.k_proj.input_scale", "BF16", {});
  tensor("l.0.k_proj.output_scale", "BF16", {});
  tensor("l.0.v_proj.output_scale", "BF16", {});
  tensor("l.0.down_proj.weight", "F8_E4M3", {4, 8});
  tensor("l.0.down_proj.weight_scale", "BF16", {4});
  read();
  expectLayers("quark", {"l.0.down_proj.weight fp8_row [4,8] blocks [1,8] e4m3fn"
                         "; scales l.0.down_proj.weight_scale bf16",
                         "l.0.k_proj.weight fp8_tensor [4,8] blocks [4,8] e4m3fn"
                         "; scales l.0.k_proj.weight_scale bf16; input l.0.k_proj.input_scale bf16"
                         "; static fp8_tensor"});
  expectFindings({});
  ASSERT_EQ(inventory.kvScales.size(), 1u);
  EXPECT_EQ(inventory.kvScales[0].module, "l.0");
  EXPECT_EQ(inventory.kvScales[0].key->tensor.name(), "l.0.k_proj.output_scale");
}

TEST_F(QuarkTest, Mx) {
  const std::string dynamic = tensorSpec("fp4", "per_group", "32", true);
  quark(layer(tensorSpec("fp4", "per_group", "32"), dynamic),
        R"({"m.b":)" + layer(tensorSpec("fp6_e2m3", "per_group", "32"), dynamic) + R"(,"m.c":)" +
            layer(tensorSpec("fp6_e3m2", "per_group", "32")) + R"(,"m.d":)" +
            layer(tensorSpec("fp8_e4m3", "per_group", "32")) + R"(,"m.e":)" +
            layer(tensorSpec("fp8_e5m2", "per_group", "32")) + "}");
  tensor("m.a.weight", "U8", {4, 32});
  tensor("m.a.weight_scale", "U8", {4, 2});
  for (const char* six : {"b", "c"}) {
    tensor(fmt::format("m.{}.weight", six), "U8", {4, 48});
    tensor(fmt::format("m.{}.weight_scale", six), "U8", {4, 2});
  }
  tensor("m.d.weight", "F8_E4M3", {4, 64});
  tensor("m.d.weight_scale", "U8", {4, 2});
  tensor("m.e.weight", "F8_E5M2", {4, 64});
  tensor("m.e.weight_scale", "U8", {4, 2});
  read();
  expectLayers(
      "quark",
      {"m.a.weight mxfp4 [4,64] blocks [1,32] e2m1fn packed; scales m.a.weight_scale e8m0fnu"
       "; dynamic mxfp4",
       "m.b.weight mxfp6_e2m3 [4,64] blocks [1,32] e2m3fn packed"
       "; scales m.b.weight_scale e8m0fnu; dynamic mxfp4",
       "m.c.weight mxfp6_e3m2 [4,64] blocks [1,32] e3m2fn packed"
       "; scales m.c.weight_scale e8m0fnu",
       "m.d.weight mxfp8_e4m3 [4,64] blocks [1,32] e4m3fn; scales m.d.weight_scale e8m0fnu",
       "m.e.weight mxfp8_e5m2 [4,64] blocks [1,32] e5m2; scales m.e.weight_scale e8m0fnu"});
  expectFindings({});
}

TEST_F(QuarkTest, SixBitsWithoutAConfigurationAreAmbiguous) {
  tensor("m.weight", "U8", {4, 48});
  tensor("m.weight_scale", "U8", {4, 2});
  read();
  EXPECT_EQ(detected.layout->name(), "quark");
  expectFindings({"ambiguous-format m.weight"});
}

TEST_F(QuarkTest, FormatsThatAreNotRead) {
  quark(layer(R"({"dtype":"mx","qscheme":"per_group","mx_element_dtype":"fp4","group_size":32})"),
        R"({"m.b":)" + layer(R"({"dtype":"int8","qscheme":"per_tensor"})") + R"(,"m.c":)" +
            layer(R"([{"dtype":"fp8_e4m3"},{"dtype":"int4"}])") + R"(,"m.d":)" + layer("null") +
            "}");
  tensor("m.a.weight", "U8", {4, 34});
  tensor("m.b.weight", "I8", {4, 32});
  tensor("m.b.weight_scale", "BF16", {});
  tensor("m.c.weight", "U8", {4, 32});
  tensor("m.d.weight", "BF16", {4, 32});
  read();
  expectLayers("quark", {});
  expectFindings({"unsupported-format", "unsupported-format", "unsupported-format"});
  EXPECT_TRUE(findingSays("global_quant_config: dtype \"mx\" interleaves"));
  EXPECT_TRUE(findingSays("layer_quant_config.m.c: weights with two levels of quantization"));
}

TEST_F(QuarkTest, ConfigureIsReadBack) {
  tensor("l.0.k_proj.weight", "U8", {4, 32});
  tensor("l.0.k_proj.weight_scale", "U8", {4, 2});
  tensor("l.0.v_proj.weight", "U8", {4, 32});
  tensor("l.0.v_proj.weight_scale", "U8", {4, 2});
  tensor("l.0.up.weight", "F8_E4M3", {4, 64});
  tensor("l.0.up.weight_scale", "BF16", {4});
  tensor("l.0.gate.weight", "BF16", {4, 64});
  Json config, quantConfig;
  configure("quark",
            {{chosen("l.0.k_proj", "mxfp4", Activations::Kind::Dynamic),
              chosen("l.0.v_proj", "mxfp4", Activations::Kind::Dynamic),
              chosen("l.0.up", "fp8_row", Activations::Kind::Dynamic)},
             {"l.0.gate"},
             true},
            config, quantConfig);
  this->config(config.dump());
  read();
  expectFindings({});
  expectLayers("quark", {"l.0.k_proj.weight mxfp4 [4,64] blocks [1,32] e2m1fn packed"
                         "; scales l.0.k_proj.weight_scale e8m0fnu; dynamic mxfp4",
                         "l.0.up.weight fp8_row [4,64] blocks [1,64] e4m3fn"
                         "; scales l.0.up.weight_scale bf16; dynamic fp8_row",
                         "l.0.v_proj.weight mxfp4 [4,64] blocks [1,32] e2m1fn packed"
                         "; scales l.0.v_proj.weight_scale e8m0fnu; dynamic mxfp4"});
  EXPECT_EQ(inventory.kvCacheFormat, "fp8");
}

} // namespace
} // namespace octavo::checkpoint
