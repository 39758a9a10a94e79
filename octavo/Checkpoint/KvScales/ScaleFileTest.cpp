#include "octavo/Checkpoint/KvScales/ScaleFile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace octavo::checkpoint {
namespace {

class ScaleFileTest : public testing::Test {
protected:
  ScaleFileTest() {
    std::string name = testing::TempDir() + "/octavo-scales-XXXXXX";
    folder = ::mkdtemp(name.data());
  }
  ~ScaleFileTest() override { std::filesystem::remove_all(folder); }

  /// Reads the JSON form with these members of scaling_factor.
  auto readRanks(const std::string& ranks) {
    const std::filesystem::path path = folder / "kv_cache_scales.json";
    std::ofstream(path) << R"({"model_type":"llama","kv_cache":{"dtype":"float8_e4m3fn",)"
                        << R"("scaling_factor":{)" << ranks << "}}}";
    return readKvScaleJson(path);
  }

  std::filesystem::path folder;
};

TEST_F(ScaleFileTest, ReadsTheLayersOfTheJsonForm) {
  const auto scales = readRanks(R"("1":{"1":0.5,"0":2},"0":{"0":2.0,"1":0.5})");
  ASSERT_TRUE(scales) << scales.error().message();
  EXPECT_EQ(scales->modelType, "llama");
  EXPECT_EQ(scales->layers, (std::vector<float>{2.0f, 0.5f}));
}

TEST_F(ScaleFileTest, RefusesRanksAndLayersThatDoNotCountFromZero) {
  const struct {
    std::string ranks;
    std::string words;
  } cases[] = {
      {R"()", "does not list ranks"},
      {R"("1":{"0":1})", "does not list ranks"},
      // The largest of all integers, and the first that is too large.
      {R"("9223372036854775807":{"0":1})", "does not list ranks"},
      {R"("9223372036854775808":{"0":1})", "does not list ranks"},
      {R"("-1":{"0":1})", "does not list ranks"},
      // One rank in two spellings; one of them would be ignored.
      {R"("0":{"0":1},"00":{"0":2})", "does not list ranks"},
      {R"("-0":{"0":1})", "does not list ranks"},
      {R"("0":{})", "0 layers"},
      {R"("0":{"0":1,"2":1})", "2 layers, the last 2"},
      {R"("0":{"9223372036854775807":1})", "1 layers, the last 9223372036854775807"},
      {R"("0":{"0":1,"00":2})", "other keys"},
      {R"("0":{"0":1,"x":2})", "other keys"},
  };
  for (const auto& each : cases) {
    const auto scales = readRanks(each.ranks);
    ASSERT_FALSE(scales) << each.ranks;
    EXPECT_NE(scales.error().message().find(each.words), std::string::npos)
        << each.words << " in " << scales.error().message();
  }
}

TEST_F(ScaleFileTest, RefusesScalesThatNoFloatHolds) {
  for (const std::string scale : {"0", "-1", "1e39", "1e-60", "\"1\"", "null", "true", "[]"}) {
    const auto scales = readRanks(R"("0":{"0":)" + scale + "}");
    ASSERT_FALSE(scales) << scale;
    EXPECT_NE(scales.error().message().find("layer 0"), std::string::npos)
        << scales.error().message();
  }
}

} // namespace
} // namespace octavo::checkpoint
