// Findings: what lint, the layout readers and the writers report about a checkpoint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// How much a finding matters.
enum class Severity {
  Note,    ///< worth knowing; no value is lost
  Warning, ///< some reader will not do what the writer meant
  Error,   ///< values are wrong or missing, or the files are damaged
};

struct FindingRule;

/// The name of a rule of FindingRules.h. The name of an unknown rule does not compile.
class RuleName {
public:
  consteval RuleName(const char* name);
  constexpr const FindingRule& rule() const { return *row; }
  std::string_view text() const; ///< stable, kebab case: "missing-scale", "zero-scale", ...
  bool operator==(const RuleName&) const = default;

private:
  const FindingRule* row;
};

/// One finding.
struct Finding {
  RuleName rule;
  Severity severity;
  std::string file;   ///< relative to the checkpoint; may be empty
  std::string tensor; ///< may be empty
  std::string what;   ///< what was found, with the numbers
  std::string why;    ///< the consequence
  std::string fix;    ///< what to do; a command if one helps
};

using Findings = std::vector<Finding>;

} // namespace octavo::checkpoint
