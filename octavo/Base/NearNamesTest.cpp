#include "octavo/Base/NearNames.h"

#include <gtest/gtest.h>

namespace octavo::base {
namespace {

using Names = std::vector<std::string>;

TEST(NearNames, nearestFirst) {
  EXPECT_EQ(nearNames("mxfp8_e4m4", {"nvfp4", "mxfp8_e5m2", "mxfp8_e4m3"}),
            (Names{"mxfp8_e4m3", "mxfp8_e5m2"}));
}

TEST(NearNames, aThirdOfTheLetters) {
  // distances 1, 1, 2 and 4, of 9 bytes
  EXPECT_EQ(nearNames("quantized", {"quantizer2", "quantize", "quantizes", "quanta"}),
            (Names{"quantize", "quantizes", "quantizer2"}));
  EXPECT_EQ(nearNames("kitten1", {"sitting1"}), Names{}); // distance 3, of 7 bytes
}

TEST(NearNames, caseDoesNotCount) { EXPECT_EQ(nearNames("MXFP4", {"mxfp4"}), Names{"mxfp4"}); }

TEST(NearNames, partsCount) {
  EXPECT_EQ(nearNames("query.weight", {"encoder.layer.0.attention.self.query.weight", "bias"}),
            Names{"encoder.layer.0.attention.self.query.weight"});
}

TEST(NearNames, misspelledBeginnings) {
  EXPECT_EQ(nearNames("compresed", {"deepseek", "compressed-tensors", "plain"}),
            Names{"compressed-tensors"});
  EXPECT_EQ(nearNames("abx", {"abcdefgh"}), Names{}); // too short to stand for a name
}

TEST(NearNames, lettersInAnotherOrder) {
  EXPECT_EQ(nearNames("rnu", {"formats", "run"}), Names{"run"});
}

TEST(NearNames, shortNamesAreNotAllAlike) {
  EXPECT_EQ(nearNames("id", {"x", "ids", "ab"}), Names{"ids"});
}

TEST(NearNames, nothingNear) {
  EXPECT_TRUE(nearNames("abc", {"something", "else"}).empty());
  EXPECT_TRUE(nearNames("", {"something"}).empty());
  EXPECT_TRUE(nearNames("abc", {}).empty());
}

TEST(NearNames, atMostTheLimit) {
  EXPECT_EQ(nearNames("a1", {"a2", "a3", "a4", "a5"}, 2), (Names{"a2", "a3"}));
}

TEST(NearNames, tenAtMost) {
  Names known;
  for (int i = 0; i < 100; ++i)
    known.push_back("name" + std::to_string(100 + i));
  EXPECT_EQ(nearNames("name1", known, 1000).size(), kMostNearNames);
  EXPECT_EQ(someOf(known),
            "name100, name101, name102, name103, name104, name105, name106, name107, name108, "
            "name109, ... (100 in all)");
  EXPECT_EQ(someOf({"a", "b"}), "a, b");
}

// 7 MB of names that are all about as near: the edit distances alone took 200 s.
TEST(NearNames, theCostIsBounded) {
  Names known;
  for (int i = 0; i < 70'000; ++i) {
    std::string name = "model.layers." + std::to_string(i) + ".mlp.down_proj.weight.";
    name.resize(100, 'a');
    known.push_back(std::move(name));
  }
  std::string wanted = "model.layers.x.mlp.down_proj.weight.";
  wanted.resize(100, 'a');
  NearNamesCost cost;
  const Names near = nearNames(wanted, known, 3, cost);
  EXPECT_EQ(near.size(), 3u);
  EXPECT_LT(cost.left, 101u * 101u) << "less than one more distance costs";

  NearNamesCost none{.left = 0};
  EXPECT_EQ(nearNames("down_projx", {"down_porjx", "up_proj", "a.down_projx"}, 3, none),
            (Names{"down_porjx", "a.down_projx"}))
      << "those that need no distance";
  EXPECT_TRUE(nearNames(std::string(10'000'000, 'a'), {std::string(10'000'000, 'a')}).empty());
}

} // namespace
} // namespace octavo::base
