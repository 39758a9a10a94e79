#include "octavo/Numerics/QuantizeOptions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace octavo::numerics {

static constexpr auto kNonFiniteNames = std::to_array<std::pair<NonFinite, std::string_view>>({
    {NonFinite::Error, "error"},
    {NonFinite::Propagate, "propagate"},
    {NonFinite::Saturate, "saturate"},
    {NonFinite::SkipNan, "skip-nan"},
});

std::string_view nonFiniteName(NonFinite policy) {
  return std::ranges::find(kNonFiniteNames, policy, &std::pair<NonFinite, std::string_view>::first)
      ->second;
}

std::optional<NonFinite> findNonFinite(std::string_view name) {
  auto row =
      std::ranges::find(kNonFiniteNames, name, &std::pair<NonFinite, std::string_view>::second);
  return row == kNonFiniteNames.end() ? std::nullopt : std::optional(row->first);
}

std::vector<std::string> nonFiniteNames() {
  std::vector<std::string> names;
  for (const auto& [policy, name] : kNonFiniteNames)
    names.emplace_back(name);
  return names;
}

} // namespace octavo::numerics
