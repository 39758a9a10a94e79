#include "tools/octavo/FormatNames.h"

#include "octavo/Format/ScaledFormat.h"

namespace octavo::tools {

namespace {

template <typename Rows> std::vector<std::string> namesOf(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows)
    names.emplace_back(row.name);
  return names;
}

} // namespace

std::vector<std::string> scaledFormatNames() { return namesOf(format::kScaledFormats); }
std::vector<std::string> scaleRuleNames() { return namesOf(format::kScaleRules); }

} // namespace octavo::tools
