// What the programs that load checkpoints do with some of them: one row a fact, with the version or
// the report that it was seen in.
#pragma once

#include "octavo/Checkpoint/Lint/Lint.h"
#include "octavo/Checkpoint/Lint/LintSubject.h"

#include <span>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// A set of readers.
class ReaderSet {
public:
  template <typename... Each> consteval ReaderSet(Each... each) : bits((... | bit(each))) {}
  constexpr bool has(Reader reader) const { return (bits & bit(reader)) != 0; }

private:
  static constexpr unsigned bit(Reader reader) { return 1u << static_cast<unsigned>(reader); }
  unsigned bits;
};

struct ReaderRule {
  std::string_view name;
  ReaderSet readers;
  Severity severity;
  std::string_view happens; ///< what the reader does
  std::string_view fix;
  std::string_view source; ///< version, file or report
  /// Adds a finding for each place where the condition holds.
  void (*check)(const LintSubject& subject, const ReaderRule& rule, Findings& findings);
};

/// Of all readers.
std::span<const ReaderRule> readerRules();
/// Those of them that are of transformers alone.
std::span<const ReaderRule> transformersRules();

/// Runs the rows of `reader`.
void lintReader(const LintSubject& subject, Reader reader, Findings& findings);

} // namespace octavo::checkpoint
