// Checks of RuleFamily::Readers: what the programs that load checkpoints do with some of them.
#pragma once

#include "octavo/Checkpoint/Lint/Lint.h"
#include "octavo/Checkpoint/Lint/LintSubject.h"

#include <span>
#include <vector>

namespace octavo::checkpoint {

/// The condition of one rule.
struct ReaderCheck {
  RuleName rule;
  /// Adds a finding for each place where the condition holds.
  void (*check)(const LintSubject& subject, RuleName rule, Findings& findings);
};

/// The checks for transformers only.
std::span<const ReaderCheck> transformersChecks();

/// The rules of all checks, one for each check.
std::vector<RuleName> checkedReaderRules();

/// Runs the checks of the rules that apply to `reader`.
void lintReader(const LintSubject& subject, Reader reader, Findings& findings);

} // namespace octavo::checkpoint
