#include "octavo/Checkpoint/Layouts/NamePatterns.h"

#include <gtest/gtest.h>

namespace octavo::checkpoint {
namespace {

struct Case {
  const char* entry;
  const char* module;
  bool matches;
};

void check(PatternStyle style, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    Findings findings;
    const std::vector<std::string> entries = {c.entry};
    const NamePatterns patterns(entries, style, "ignore", findings);
    EXPECT_EQ(patterns.match(c.module).has_value(), c.matches) << c.entry << " " << c.module;
    EXPECT_EQ(patterns.unused().empty(), c.matches) << c.entry << " " << c.module;
    EXPECT_TRUE(findings.empty());
  }
}

// compressed-tensors utils/match.py: Python's re.match, which is anchored at the start only.
TEST(NamePatternsTest, NameClassOrRegex) {
  check(PatternStyle::NameClassOrRegex, {{"lm_head", "lm_head", true},
                                         {"lm_head", "model.lm_head", false},
                                         {"model.visual", "model.visual.fc", false},
                                         {"re:.*gate$", "model.layers.0.mlp.gate", true},
                                         {"re:.*gate$", "model.layers.0.mlp.gate_proj", false},
                                         {"re:model\\.visual", "model.visual.blocks.0", true},
                                         {"re:visual", "model.visual.blocks.0", false},
                                         {"model.*", "model.a", false}});
}

// fnmatch over the whole name; a parent's name covers its children.
TEST(NamePatternsTest, Wildcards) {
  check(PatternStyle::Wildcards, {{"lm_head", "lm_head", true},
                                  {"model.layers.0", "model.layers.0.mlp", true},
                                  {"model.layers.0", "model.layers.01.mlp", false},
                                  {"*router*", "model.layers.0.mlp.router", true},
                                  {"model.layers.?.mlp", "model.layers.3.mlp", true},
                                  {"model.layers.?.mlp", "model.layers.13.mlp", false},
                                  {"model.layers.[12].mlp", "model.layers.2.mlp", true},
                                  {"model.layers.[!12].mlp", "model.layers.2.mlp", false},
                                  {"model.layers.0.self_attn*", "model.layers.0.self_attn.q", true},
                                  {"*.self_attn", "model.layers.0.self_attn.q", false},
                                  {"re:.*mlp", "model.layers.0.mlp", true}});
}

TEST(NamePatternsTest, NameOrRegex) {
  check(PatternStyle::NameOrRegex,
        {{"lm_head", "lm_head", true},
         {"lm_head", "model.lm_head", true},
         {"lm_head", "model.my_lm_head", false},
         {"model.visual", "model.visual.fc", true},
         {"model.layers.*.self_attn", "model.layers.11.self_attn.q_proj", true},
         {"model.layers.*.mlp.router", "model.layers.0.mlp.experts", false}});
}

TEST(NamePatternsTest, TheFirstOfSeveralAndAllAreUsed) {
  Findings findings;
  const std::vector<std::string> entries = {"b", "re:a", "a", "Linear", "c"};
  const NamePatterns patterns(entries, PatternStyle::NameClassOrRegex, "targets", findings);
  EXPECT_EQ(patterns.match("a"), 1u);
  EXPECT_EQ(patterns.unused(), (std::vector<std::size_t>{0, 4}));
  EXPECT_TRUE(patterns.namesClass("Linear"));
  EXPECT_FALSE(patterns.namesClass("Embedding"));
}

// Expressions that RE2 does not support. Expected results: re.match of Python 3.11.
TEST(NamePatternsTest, LookAroundAndBackReferences) {
  check(PatternStyle::NameClassOrRegex,
        {{"re:(?!.*(gate|up)_proj).*", "model.layers.0.mlp.down_proj", true},
         {"re:(?!.*(gate|up)_proj).*", "model.layers.0.mlp.gate_proj", false},
         {"re:^(?!.*attn)model", "model.layers.0.mlp", true},
         {"re:^(?!.*attn)model", "model.layers.0.self_attn", false},
         {"re:.*mlp\\.(?!gate)", "model.layers.0.mlp.up_proj", true},
         {"re:.*mlp\\.(?!gate)", "model.layers.0.mlp.gate_proj", false},
         {"re:.*(?<!lm_head)$", "model.norm", true},
         {"re:.*(?<!lm_head)$", "model.lm_head", false},
         {"re:(?=.*mlp)(?=.*up)", "layers.0.mlp.up_proj", true},
         {"re:(?=.*mlp)(?=.*up)", "layers.0.mlp.down_proj", false},
         {"re:.*\\.(\\d+)\\.experts\\.\\1\\.", "layers.7.experts.7.up_proj", true},
         {"re:.*\\.(\\d+)\\.experts\\.\\1\\.", "layers.7.experts.8.up_proj", false},
         {"re:(?P<n>\\d)x(?P=n)", "3x3", true},
         {"re:mlp(?!x)", "model.mlp", false}}); // anchored only at the start
}

// Exponential in the name's length; Python does not terminate.
TEST(NamePatternsTest, PatternsThatTakeTooLongAreGivenUp) {
  Findings findings;
  const std::vector<std::string> entries = {"re:(?!x)((a+)+)+$", "re:(?!x)a", "b"};
  const auto steps = std::make_shared<PatternSteps>(PatternSteps{100'000});
  const NamePatterns patterns(entries, PatternStyle::NameClassOrRegex, "ignore", findings, steps);
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(patterns.match("a"), 0u);
  EXPECT_TRUE(patterns.unfinished().empty());
  EXPECT_FALSE(patterns.match(std::string(60, 'a') + "!"));
  EXPECT_EQ(patterns.unfinished(), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(patterns.match("b"), 2u); // a plain name needs no steps
  EXPECT_LE(steps->left, 0);

  const NamePatterns others(entries, PatternStyle::NameClassOrRegex, "ignore", findings);
  EXPECT_FALSE(others.match(std::string(2000, 'a')));
  EXPECT_EQ(others.unfinished().size(), 2u);
  EXPECT_EQ(others.match("a"), 0u); // names of usual length still match
}

TEST(NamePatternsTest, PatternsThatDoNotCompileAreReported) {
  for (const char* bad :
       {"re:(", "re:a(?!b", "re:(?<=a*)b", "re:\\", "re:a{1000000}", "re:[z-a]"}) {
    Findings findings;
    const std::vector<std::string> entries = {bad};
    const NamePatterns patterns(entries, PatternStyle::NameClassOrRegex, "ignore", findings);
    ASSERT_EQ(findings.size(), 1u) << bad;
    EXPECT_EQ(findings[0].rule.text(), "bad-pattern");
    EXPECT_FALSE(patterns.match("a"));
    EXPECT_TRUE(patterns.unused().empty());
  }
}

TEST(NamePatternsTest, RepeatedEntriesAreOne) {
  Findings findings;
  const std::vector<std::string> entries = {"a", "a", "re:b", "re:b", "re:(", "re:(", "c", "c"};
  const NamePatterns patterns(entries, PatternStyle::NameClassOrRegex, "targets", findings);
  EXPECT_EQ(patterns.match("a"), 0u);
  EXPECT_EQ(patterns.match("b"), 2u);
  EXPECT_EQ(patterns.unused(), (std::vector<std::size_t>{6, 7}));
  EXPECT_EQ(findings.size(), 1u);
}

// A pattern for each of 4000 layers: 16 million pairs, which took over 200 s when matched one by
// one. Steps are bytes of names that expressions read.
TEST(NamePatternsTest, ManyPatternsAreNotAskedOneByOne) {
  constexpr std::size_t kLayers = 4000;
  std::vector<std::string> entries, modules;
  for (std::size_t i = 0; i < kLayers; ++i) {
    entries.push_back("re:.*layers\\." + std::to_string(i) + "\\.mlp\\.down_proj$");
    modules.push_back("model.layers." + std::to_string(i) + ".mlp.down_proj");
  }
  Findings findings;
  const auto steps = std::make_shared<PatternSteps>();
  const std::int64_t before = steps->left;
  const NamePatterns patterns(entries, PatternStyle::NameClassOrRegex, "ignore", findings, steps);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < kLayers; ++i) {
    EXPECT_EQ(patterns.match(modules[i]), i);
    EXPECT_EQ(patterns.match(modules[i]), i); // cached, at no cost
    bytes += static_cast<std::int64_t>(modules[i].size());
  }
  EXPECT_FALSE(patterns.match("model.layers.5.mlp.up_proj"));
  EXPECT_TRUE(patterns.unused().empty());
  EXPECT_TRUE(patterns.unfinished().empty());
  EXPECT_GE(before - steps->left, bytes);
  EXPECT_LE(before - steps->left, 2 * bytes);
}

// Many patterns match like few: atoms are lower case, names need be neither lower case nor ASCII.
TEST(NamePatternsTest, ManyPatternsMatchAsFewDo) {
  const std::vector<std::string> modules = {"Model.Layers.0.MLP",
                                            "model.layers.0.mlp",
                                            "caf\xc3\xa9",
                                            "CAF\xc3\x89",
                                            "\xe2\x84\xaa.proj",
                                            "k.proj",
                                            "\xff\xfe.mlp",
                                            "",
                                            "a"};
  const std::vector<std::string> some = {
      "re:.*Layers",     "re:(?i).*layers", "re:.*layers", "re:(?i)caf.",
      "re:(?i)k\\.proj", "re:.*\\.mlp$",    "re:[a-z]*$",  "re:$",
      "re:.*(a|b|)$",    "re:(model|x)",    "re:m?a?"};
  std::vector<std::string> many = some;
  for (int i = 0; i < 100; ++i)
    many.push_back("re:layer" + std::to_string(i) + "x");
  for (const std::string& module : modules)
    for (std::size_t i = 0; i < some.size(); ++i) {
      Findings findings;
      std::vector<std::string> rotated(many.begin() + static_cast<std::ptrdiff_t>(i), many.end());
      const NamePatterns one(std::span(some).subspan(i, 1), PatternStyle::NameClassOrRegex, "",
                             findings);
      const NamePatterns all(rotated, PatternStyle::NameClassOrRegex, "", findings);
      const bool isFirst = all.match(module) == std::optional<std::size_t>(0);
      EXPECT_EQ(isFirst, one.match(module).has_value()) << some[i] << " " << module;
    }
}

// Without atoms the patterns cannot be filtered: matching is given up and reported, and plain names
// still match.
TEST(NamePatternsTest, ManyPatternsWithoutLettersAreBounded) {
  std::vector<std::string> entries = {"model.layers.1"};
  for (int i = 0; i < 4000; ++i)
    entries.push_back("re:.*[0-9]{1," + std::to_string(i % 100 + 1) + "}[a-z]{" +
                      std::to_string(i / 100) + "}$");
  Findings findings;
  const auto steps = std::make_shared<PatternSteps>(PatternSteps{1'000'000});
  const NamePatterns patterns(entries, PatternStyle::NameClassOrRegex, "ignore", findings, steps);
  for (int i = 0; i < 1000; ++i)
    patterns.match("model.layers." + std::to_string(i));
  EXPECT_EQ(patterns.match("model.layers.1"), 0u);
  EXPECT_FALSE(patterns.unfinished().empty());
  EXPECT_LE(steps->left, 0);
}

} // namespace
} // namespace octavo::checkpoint
