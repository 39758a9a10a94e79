#include "octavo/Text/NearNames.h"

#include <gtest/gtest.h>

namespace octavo::text {
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

} // namespace
} // namespace octavo::text
