// What a look at a checkpoint found: the one currency of lint, of layouts that meet a tensor they
// cannot place, and of repairs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

enum class Severity {
  Note,    ///< worth knowing; nothing is lost
  Warning, ///< some reader will do something else than the writer meant
  Error,   ///< values are wrong or missing, or the files are damaged
};

struct FindingRule;

/// The name of a rule of FindingRules.h; an unknown one does not compile.
class RuleName {
public:
  consteval RuleName(const char* name);
  constexpr const FindingRule& rule() const { return *row; }
  std::string_view text() const; ///< stable, kebab case: "missing-scale", "zero-scale", ...
  bool operator==(const RuleName&) const = default;

private:
  const FindingRule* row;
};

struct Finding {
  RuleName rule;
  Severity severity;
  std::string file;   ///< relative to the checkpoint; may be empty
  std::string tensor; ///< may be empty
  std::string what;   ///< what was found, with the numbers
  std::string why;    ///< what comes of it
  std::string fix;    ///< what to do, a command where there is one
};

using Findings = std::vector<Finding>;

} // namespace octavo::checkpoint
