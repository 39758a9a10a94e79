#include "octavo/Format/UnknownFormat.h"
#include "octavo/Format/ScaledFormat.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>

namespace octavo::format {
namespace {

TEST(UnknownFormat, BlockSizesThatCannotBeHad) {
  for (const std::string name :
       {"mxfp4:", "mxfp4:0", "mxfp4:4", "mxfp4:96", "mxfp4:2048", "mxfp4:x"})
    EXPECT_EQ(unknownFormat(name, {"mxfp4"}),
              "no scaled format \"" + name +
                  "\": blocks of mxfp4 are a power of two from 8 to 1024 long, as in mxfp4:64");
  EXPECT_EQ(unknownFormat("fp8_row:16", {"fp8_row"}),
            "no scaled format \"fp8_row:16\": fp8_row has no blocks whose size could be chosen");
}

TEST(UnknownFormat, NamesThatNothingHas) {
  EXPECT_EQ(unknownFormat("mxfp5:4", {"nvfp4", "mxfp4:4"}),
            "no scaled format \"mxfp5:4\"; near it: mxfp4:4; available: nvfp4, mxfp4:4");
  EXPECT_EQ(unknownFormat("x", {"nvfp4"}), "no scaled format \"x\"; available: nvfp4");
}

// Of any case, and llm-compressor's and ModelOpt's schemes: docs/start-checkpoints.md.
TEST(UnknownFormat, NamesInAnyCaseAndSchemesThatAreTheFormat) {
  const std::pair<const char*, const char*> called[] = {
      {"mxfp4", "mxfp4"},         {"MXFP4", "mxfp4"},
      {"NVFP4", "nvfp4"},         {"Mxfp8_E4M3", "mxfp8_e4m3"},
      {"MXFP4:16", "mxfp4:16"},   {"FP8_BLOCK", "fp8_block"},
      {"FP8_DYNAMIC", "fp8_row"}, {"fp8_per_channel_per_token_cfg", "fp8_row"}};
  for (const auto& [name, format] : called)
    EXPECT_EQ(scaledFormatCalled(name), findScaledFormat(format)) << name;
  for (const char* name : {"FP8", "fp8", "NVFP4A16", "W4A16", "mxfp8", "FP8_DEFAULT_CFG", "", "x"})
    EXPECT_EQ(scaledFormatCalled(name), nullptr) << name;
}

TEST(UnknownFormat, OtherSchemesNameTheFormatAndWhatElse) {
  const std::tuple<const char*, const char*, const char*> schemes[] = {
      {"FP8", "llm-compressor's FP8 is fp8_tensor", "calibrated"},
      {"nvfp4a16", "llm-compressor's NVFP4A16 is nvfp4 with activations in 16 bits",
       "--weight-only"},
      {"mxfp8", "llm-compressor's MXFP8 is mxfp8_e4m3", "mxfp8_e5m2"},
      {"FP8_DEFAULT_CFG", "ModelOpt's FP8_DEFAULT_CFG is fp8_tensor", "calibrated"},
      {"W4A16", "llm-compressor's W4A16 is integers", "does not write"},
      {"INT4_AWQ_CFG", "ModelOpt's INT4_AWQ_CFG is integers", "does not write"}};
  for (const auto& [name, answer, rest] : schemes) {
    const std::string text = unknownFormat(name, {"nvfp4"});
    EXPECT_TRUE(text.find(answer) != text.npos && text.find(rest) != text.npos) << text;
  }
}

} // namespace
} // namespace octavo::format
