// What the programs that load checkpoints do with some of them: the conditions of the rules of
// RuleFamily::Readers.
#pragma once

#include "octavo/Checkpoint/Lint/Lint.h"
#include "octavo/Checkpoint/Lint/LintSubject.h"

#include <span>
#include <vector>

namespace octavo::checkpoint {

struct ReaderCheck {
  RuleName rule;
  /// Adds a finding for each place where the condition holds.
  void (*check)(const LintSubject& subject, RuleName rule, Findings& findings);
};

/// Those that are of transformers alone.
std::span<const ReaderCheck> transformersChecks();

/// The rules that have a condition, each as often as it has one.
std::vector<RuleName> checkedReaderRules();

/// Runs the checks of `reader`.
void lintReader(const LintSubject& subject, Reader reader, Findings& findings);

} // namespace octavo::checkpoint
