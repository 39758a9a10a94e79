#include "octavo/Checkpoint/Layouts/LayoutFixture.h"

namespace octavo::checkpoint {
namespace {

class NativeTest : public LayoutFixture {};

TEST_F(NativeTest, DtypesSayTheFormats) {
  tensor("a.weight", "F4", {4, 64});
  tensor("a.weight_scale", "F8_E8M0", {4, 2});
  tensor("b.weight", "F4", {4, 64});
  tensor("b.weight_scale", "F8_E4M3", {4, 4});
  tensor("b.weight_scale_2", "F32", {});
  tensor("c.weight", "F6_E2M3", {4, 64});
  tensor("c.weight_scale", "F8_E8M0", {4, 2});
  tensor("d.weight", "F6_E3M2", {4, 64});
  tensor("d.weight_scale", "F8_E8M0", {4, 2});
  tensor("e.weight", "F8_E5M2", {4, 64});
  tensor("e.weight_scale", "F8_E8M0", {4, 2});
  tensor("f.weight", "I8", {4, 64});
  tensor("f.weight_scale", "F8_E8M0", {4, 2});
  read();
  expectLayers("native",
               {"a.weight mxfp4 [4,64] blocks [1,32] e2m1fn packed; scales a.weight_scale e8m0fnu",
                "b.weight nvfp4 [4,64] blocks [1,16] e2m1fn packed; scales b.weight_scale e4m3fn"
                "; outer b.weight_scale_2 f32",
                "c.weight mxfp6_e2m3 [4,64] blocks [1,32] e2m3fn packed"
                "; scales c.weight_scale e8m0fnu",
                "d.weight mxfp6_e3m2 [4,64] blocks [1,32] e3m2fn packed"
                "; scales d.weight_scale e8m0fnu",
                "e.weight mxfp8_e5m2 [4,64] blocks [1,32] e5m2; scales e.weight_scale e8m0fnu",
                "f.weight mxint8 [4,64] blocks [1,32] int8; scales f.weight_scale e8m0fnu"});
  expectFindings({});
}

TEST_F(NativeTest, RowsThatEndWithinAByteAreRefused) {
  tensor("a.weight", "F4", {4, 63});
  tensor("a.weight_scale", "F8_E8M0", {4, 2});
  tensor("b.weight", "F6_E3M2", {4, 62});
  tensor("b.weight_scale", "F8_E8M0", {4, 2});
  quantization(R"({"quant_method":"octavo"})");
  read();
  expectLayers("native", {});
  expectFindings({"element-shape a.weight", "element-shape b.weight"});
}

TEST_F(NativeTest, ConfigureIsReadBack) {
  tensor("a.weight", "F4", {4, 64});
  tensor("a.weight_scale", "F8_E8M0", {4, 2});
  Json config, quantConfig;
  configure("native", {{chosen("a", "mxfp4", Activations::Kind::Dynamic)}, {}, true}, config,
            quantConfig);
  this->config(config.dump());
  read();
  expectFindings({});
  expectLayers("native", {"a.weight mxfp4 [4,64] blocks [1,32] e2m1fn packed"
                          "; scales a.weight_scale e8m0fnu; dynamic mxfp4"});
  EXPECT_EQ(inventory.kvCacheFormat, "fp8");
}

} // namespace
} // namespace octavo::checkpoint
