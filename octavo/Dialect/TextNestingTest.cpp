// Tests tooDeepIn on each form over which MLIR's parser recurses, and on texts that a scanner
// unlike MLIR's lexer would measure wrongly.
#include "octavo/Dialect/TextNesting.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace octavo {

namespace {

std::string repeated(std::string_view part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += part;
  return text;
}

std::string found(const std::string& text, unsigned levels = 10) {
  const std::optional<TooDeep> deep = tooDeepIn(text, {.levels = levels});
  return deep ? deep->what : "nothing";
}

bool isDeep(const std::string& text) { return found(text) != "nothing"; }

TEST(TextNesting, CountsBracketsOfEveryKind) {
  for (const std::string_view open : {"[", "(", "{", "tuple<", "[{a = (<"}) {
    const auto per = static_cast<int>(open.size() == 8 ? 4 : 1);
    EXPECT_FALSE(isDeep("x = " + repeated(open, 8 / per))) << open;
    EXPECT_TRUE(isDeep("x = " + repeated(open, 12 / per))) << open;
  }
  EXPECT_EQ(found(repeated("[", 11)),
            "nests deeper than 10 levels of '[', the most that octavo reads");
  EXPECT_EQ(found(repeated("[]", 100)), "nothing");
  EXPECT_EQ(found("(" + repeated("a -> b, c >= 1, d <= 2, ", 100) + repeated("[", 9)), "nothing");
  EXPECT_EQ(tooDeepIn("a\n" + repeated("[", 11), {.levels = 10})->at, 12u);
  const std::string mixed = repeated("[(", 10);
  EXPECT_FALSE(tooDeepIn(mixed, {.levels = 10, .areKindsApart = true}));
  EXPECT_TRUE(tooDeepIn(mixed + "[", {.levels = 10, .areKindsApart = true}));
}

TEST(TextNesting, ReadsStringsAsTheLexerDoes) {
  const std::string deep = repeated("[", 11);
  EXPECT_FALSE(isDeep("\"" + deep + "\""));
  EXPECT_FALSE(isDeep(R"("\")" + deep + "\""));
  EXPECT_FALSE(isDeep(R"("\\\")" + deep + "\""));
  EXPECT_FALSE(isDeep("@\"" + deep + "\""));
  // An escaped backslash does not escape the quote after it.
  EXPECT_TRUE(isDeep(R"(["\\", )" + deep));
  EXPECT_TRUE(isDeep(R"(["a\\\\", )" + deep));
  EXPECT_TRUE(isDeep(R"(["\22", )" + deep));
  // A string ends with its line, closed or not.
  EXPECT_TRUE(isDeep("\"open\n" + deep));
}

TEST(TextNesting, ReadsCommentsAsTheLexerDoes) {
  const std::string deep = repeated("[", 11);
  EXPECT_FALSE(isDeep("// " + deep + "\n[]"));
  EXPECT_TRUE(isDeep("// \"\n" + deep));
  EXPECT_TRUE(isDeep("[ // ]\n" + repeated("[ // ]\n", 11)));
  EXPECT_FALSE(isDeep("\"// \" // \n"));
}

TEST(TextNesting, RefusesCommentsThatHaveTwoReadings) {
  // MLIR ends the attribute at the first '>', the dialect's parser at the second.
  EXPECT_TRUE(isDeep("#unknown.a<x // > , b = [\n>"));
  EXPECT_TRUE(isDeep("!unknown<x // \"\n>"));
  EXPECT_FALSE(isDeep("#known.a<x // plain words\n>"));
  EXPECT_FALSE(isDeep("#known.a<x> // > [ \"\n"));
  EXPECT_FALSE(isDeep("tensor<2xf32 // > [ \"\n>"));
}

TEST(TextNesting, NoTrickLowersTheDepth) {
  for (const char* trick : {"%a->", "->", ">=", "\"]\"", "// ]\n", ")", "@\"]\"", "%a-b"})
    EXPECT_TRUE(isDeep(repeated(std::string("[") + trick + " ", 11))) << trick;
  EXPECT_TRUE(isDeep(repeated("tuple<!d.x<%a->>, ", 30)));
}

TEST(TextNesting, CountsTheOperatorsOfAnExpression) {
  EXPECT_TRUE(isDeep("affine_map<(d0) -> (" + repeated("-", 11) + "d0)>"));
  EXPECT_TRUE(isDeep("affine_map<(d0) -> (" + repeated("- ", 11) + "d0)>"));
  EXPECT_TRUE(isDeep("affine_map<(d0) -> (d0" + repeated(" + (d0)", 11) + ")>"));
  for (const char* op : {" + 1", " - 1", " * 2", " mod 2", " floordiv 2", " ceildiv 2"})
    EXPECT_TRUE(isDeep("affine_map<(d0) -> (d0" + repeated(op, 11) + ")>")) << op;
  EXPECT_FALSE(isDeep("dense<[" + repeated("-1.0e-05, +2, ", 100) + "-3]>"));
  EXPECT_FALSE(isDeep(repeated("%c = arith.constant -1 : index\n", 100)));
  EXPECT_FALSE(isDeep(repeated("%a-b, %0#1 : tensor<*xf32>\n", 100)));
}

TEST(TextNesting, FollowsAliases) {
  const auto chain = [](const std::string& prefix, const std::string& open,
                        const std::string& close, int count) {
    std::string text = prefix + "a0 = " + open + close + "\n";
    for (int i = 0; i < count; ++i)
      text += prefix + "a" + std::to_string(i + 1) + " = " + open + prefix + "a" +
              std::to_string(i) + close + "\n";
    return text;
  };
  EXPECT_FALSE(isDeep(chain("#", "[", "]", 9))); // ten brackets in one another
  EXPECT_TRUE(isDeep(chain("#", "[", "]", 10)));
  EXPECT_TRUE(isDeep(chain("!", "tuple<", ">", 11)));
  EXPECT_TRUE(isDeep(chain("#", "loc(\"x\"(", "))", 11)));
  EXPECT_TRUE(isDeep(chain("#", "dense<1> :\n tensor<2xf32, ", ">", 11)));
  // Text after the last alias is not part of it.
  EXPECT_FALSE(isDeep(chain("#", "[", "]", 3) + "module {\n  f(#a3, #a3) {{{{{{\n#b = [#a3]\n"));
  EXPECT_FALSE(isDeep(chain("#", "[", "]", 3) + "\"m\"() ({({({({\n"));
  std::string doubled = "#a0 = []\n";
  for (int i = 0; i < 30; ++i)
    doubled += "#a" + std::to_string(i + 1) + " = [#a" + std::to_string(i) + ", #a" +
               std::to_string(i) + "]\n";
  EXPECT_NE(found(doubled, 1000).find("stands for more than 10000000 attributes and types"),
            std::string::npos);
}

} // namespace

} // namespace octavo
