#include "octavo/Checkpoint/FindingRules.h"

#include <fmt/format.h>

namespace octavo::checkpoint {

std::string_view familyName(RuleFamily family) {
  switch (family) {
    using enum RuleFamily;
  case Files:
    return "files";
  case Configuration:
    return "configuration";
  case Scales:
    return "scales";
  case Codes:
    return "codes";
  case Range:
    return "range";
  case Fused:
    return "fused projections";
  case KvCache:
    return "key-value cache";
  case Readers:
    return "readers";
  case Writing:
    return "writing";
  }
  return "";
}

std::string_view severityName(Severity severity) {
  switch (severity) {
  case Severity::Note:
    return "note";
  case Severity::Warning:
    return "warning";
  case Severity::Error:
    return "error";
  }
  return "";
}

std::string_view RuleName::text() const { return row->name; }

Finding finding(RuleName name, std::string file, std::string tensor, std::string what) {
  const FindingRule& rule = name.rule();
  return {.rule = name,
          .severity = rule.severity,
          .file = std::move(file),
          .tensor = std::move(tensor),
          .what = std::move(what),
          .why = rule.source.empty() ? std::string(rule.why)
                                     : fmt::format("{} ({})", rule.why, rule.source),
          .fix = std::string(rule.fix)};
}

} // namespace octavo::checkpoint
