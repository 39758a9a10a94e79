#include "octavo/Checkpoint/Files/JsonFile.h"

#include <gtest/gtest.h>

namespace octavo::checkpoint {
namespace {

TEST(JsonFile, KeepsTheOrderOfKeysAndEveryKindOfValue) {
  const std::string text = R"({"z":1,"a":[-2,0.5,"x",true,null],"m":{"b":{},"a":[]}})";
  const auto json = parseJson(text, "config.json");
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ(json->dump(), text);
  EXPECT_EQ((*json)["a"][0], -2);
}

TEST(JsonFile, SaysWhatIsWrongAndWhere) {
  const struct {
    std::string text;
    std::vector<std::string> words;
  } cases[] = {
      {"", {"config.json", "not valid JSON", "end of input"}},
      {"{\"a\":1,}", {"not valid JSON", "at byte 7"}},
      {"{\"a\":1} x", {"not valid JSON", "at byte 8"}},
      {std::string("{\"a\":1}\0{}", 10), {"zero byte", "at byte 7"}},
      {"{\"a\":\"\xff\"}", {"not valid JSON", "UTF-8"}},
      {"{\"a\":1,\"b\":{\"c\":1,\"c\":2}}", {"occurs twice", "\"c\" again"}},
      {std::string(65, '[') + std::string(65, ']'), {"nested too deep", "64"}},
      {std::string(1'000'000, '['), {"nested too deep"}},
      {"{\"a\":1e999}", {"not valid JSON", "number overflow"}},
  };
  for (const auto& each : cases) {
    const auto json = parseJson(each.text, "config.json");
    ASSERT_FALSE(json) << each.text.substr(0, 40);
    for (const std::string& word : each.words)
      EXPECT_NE(json.error().message().find(word), std::string::npos)
          << word << " in " << json.error().message();
  }
}

TEST(JsonFile, TakesTheDeepestNestingThatItAllows) {
  EXPECT_TRUE(parseJson(std::string(64, '[') + std::string(64, ']'), "x"));
}

TEST(JsonFile, ReadsAKeyForEachTensorOfALargeModelInTime) {
  std::string text = "{";
  for (int i = 0; i < 300'000; ++i)
    text += (i ? ",\"model.layers.tensor." : "\"model.layers.tensor.") + std::to_string(i) + "\":1";
  const auto json = parseJson(text + "}", "x");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->size(), 300'000u);
}

} // namespace
} // namespace octavo::checkpoint
