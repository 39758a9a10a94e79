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
  EXPECT_EQ(patterns.unused(), (std::vector<std::string_view>{"b", "c"}));
  EXPECT_TRUE(patterns.namesClass("Linear"));
  EXPECT_FALSE(patterns.namesClass("Embedding"));
}

TEST(NamePatternsTest, PatternsThatDoNotCompileAreReported) {
  for (const char* bad : {"re:(", "re:a(?!b)", "re:\\", "re:a{1000000}", "re:[z-a]"}) {
    Findings findings;
    const std::vector<std::string> entries = {bad};
    const NamePatterns patterns(entries, PatternStyle::NameClassOrRegex, "ignore", findings);
    ASSERT_EQ(findings.size(), 1u) << bad;
    EXPECT_EQ(findings[0].rule, "bad-pattern");
    EXPECT_FALSE(patterns.match("a"));
    EXPECT_TRUE(patterns.unused().empty());
  }
}

} // namespace
} // namespace octavo::checkpoint
