// The rules that lint looks for in the files, the configuration and the numbers: one row a rule,
// with why it matters and what to do about it. What opening a folder and reading a layout can find
// has rows too, so that this is the whole list.
#pragma once

#include "octavo/Checkpoint/Finding.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

enum class LintFamily : std::uint8_t {
  Files,         ///< shards, index
  Configuration, ///< config.json against the tensors
  Scales,
  Codes,
  Range,
  Fused, ///< projections that readers put together
  KvCache,
  Readers, ///< only with --for
};
std::string_view lintFamilyName(LintFamily family);

struct LintRule {
  std::string_view name;
  LintFamily family;
  Severity severity;
  std::string_view why;
  std::string_view fix;
};

/// All rules, a family after the other; the readers' come from their own table (LintReaders.h).
std::span<const LintRule> lintRules();

/// The rule of that name; null if there is none.
const LintRule* findLintRule(std::string_view name);

/// A finding of `rule`, with what the table says of it. Precondition: the rule exists.
Finding lintFinding(std::string_view rule, std::string file, std::string tensor, std::string what);

std::string_view severityName(Severity severity); ///< "note", "warning", "error"

} // namespace octavo::checkpoint
