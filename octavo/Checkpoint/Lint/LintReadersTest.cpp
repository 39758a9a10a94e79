#include "octavo/Checkpoint/Lint/LintReaders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace octavo::checkpoint {
namespace {

template <std::size_t kSize> struct Text {
  char text[kSize];
  consteval Text(const char (&literal)[kSize]) { std::copy_n(literal, kSize, text); }
};
template <Text kName>
concept NamesRule = requires { typename std::bool_constant<(RuleName(kName.text), true)>; };
static_assert(NamesRule<"zero-scale"> && NamesRule<"kv-value-scale-alone">);
static_assert(!NamesRule<"zero-scael"> && !NamesRule<"">, "a mistyped rule does not compile");

TEST(FindingRules, EachNameStandsOnceAndSaysWhatToDo) {
  std::set<std::string_view> names;
  RuleFamily family = rules::kAll.front().family;
  for (const FindingRule& rule : rules::kAll) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_FALSE(rule.why.empty() || rule.fix.empty()) << rule.name;
    EXPECT_GE(rule.family, family) << rule.name << ": families lie together";
    family = rule.family;
    EXPECT_EQ(rule.family == RuleFamily::Readers, !rule.source.empty()) << rule.name;
  }
}

TEST(FindingRules, LintLooksForAllButThoseOfWriting) {
  EXPECT_EQ(rules::kLint.data(), rules::kAll.data());
  for (const FindingRule& rule : rules::kAll)
    EXPECT_EQ(std::ranges::find(rules::kLint, rule.name, &FindingRule::name) == rules::kLint.end(),
              rule.family == RuleFamily::Writing)
        << rule.name;
}

TEST(FindingRules, EachRuleOfReadersHasOneCondition) {
  std::map<std::string_view, int> conditions;
  for (const RuleName name : checkedReaderRules())
    ++conditions[name.rule().name];
  for (const FindingRule& rule : rules::kAll)
    EXPECT_EQ(conditions[rule.name], rule.family == RuleFamily::Readers ? 1 : 0) << rule.name;
}

} // namespace
} // namespace octavo::checkpoint
