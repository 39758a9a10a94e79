#include "octavo/Base/NearNames.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace octavo::base {

namespace {

/// Names of tensors have a few dozen bytes.
constexpr std::size_t kLongestName = 256;

/// `text` with ASCII letters in lower case; bytes of UTF-8 are unchanged.
std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z')
      letter = static_cast<char>(letter - 'A' + 'a');
  return lower;
}

/// Counts of each byte.
using Letters = std::array<std::int64_t, 256>;
Letters lettersOf(std::string_view text) {
  Letters letters{};
  for (const char letter : text)
    ++letters[static_cast<unsigned char>(letter)];
  return letters;
}

/// A lower bound of the edit distance: each edit inserts, deletes or replaces one letter.
std::size_t leastDistance(const Letters& a, const Letters& b) {
  std::int64_t more = 0, fewer = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    (a[i] > b[i] ? more : fewer) += std::max(a[i] - b[i], b[i] - a[i]);
  return static_cast<std::size_t>(std::max(more, fewer));
}

/// The least number of byte insertions, deletions and replacements that turn `b` into `a`
/// (Levenshtein).
std::size_t editDistance(std::string_view a, std::string_view b) {
  // distances[j]: distance of a's first i bytes from b's first j
  std::vector<std::size_t> distances(b.size() + 1);
  std::iota(distances.begin(), distances.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(distances[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = distances[j];
      distances[j] = std::min({replaced, distances[j] + 1, distances[j - 1] + 1});
    }
  }
  return distances.back();
}

/// A search for one name, which counts its cost.
class Search {
public:
  Search(std::string_view name, NearNamesCost& cost)
      : wanted(lowered(name)), letters(lettersOf(wanted)),
        furthest(wanted.size() <= 3 ? 1 : std::max<std::size_t>(2, wanted.size() / 3)), cost(cost) {
  }

  /// The distance of `known` if it is near; else nullopt.
  std::optional<std::size_t> distanceOf(std::string_view known) {
    if (known.size() > kLongestName)
      return std::nullopt;
    const std::string lower = lowered(known);
    const std::size_t least = leastDistance(letters, lettersOf(lower));
    const bool isNear = (least == 0 && lower.size() == wanted.size()) ||
                        (!wanted.empty() && !lower.empty() &&
                         (lower.find(wanted) != lower.npos || wanted.find(lower) != lower.npos));
    if (!isNear && least > furthest)
      return std::nullopt;
    const std::optional<std::size_t> distance = distanceWithin(lower);
    if (isNear)
      return distance.value_or(std::max(wanted.size(), lower.size()));
    return distance && *distance <= furthest ? distance : std::nullopt;
  }

  /// The same for the beginning of `known`, as an abbreviation that may be misspelled.
  std::optional<std::size_t> distanceOfBeginning(std::string_view known) {
    if (wanted.size() < 4)
      return std::nullopt;
    const std::string lower = lowered(known.substr(0, wanted.size()));
    if (leastDistance(letters, lettersOf(lower)) > furthest)
      return std::nullopt;
    const std::optional<std::size_t> distance = distanceWithin(lower);
    return distance && *distance <= furthest ? distance : std::nullopt;
  }

private:
  /// nullopt if it would exceed the budget.
  std::optional<std::size_t> distanceWithin(const std::string& lower) {
    const std::size_t steps = (wanted.size() + 1) * (lower.size() + 1);
    if (steps > cost.left)
      return std::nullopt;
    cost.left -= steps;
    return editDistance(wanted, lower);
  }

  std::string wanted;
  Letters letters;
  std::size_t furthest;
  NearNamesCost& cost;
};

} // namespace

std::vector<std::string> nearNames(std::string_view name, const std::vector<std::string>& known,
                                   std::size_t limit, NearNamesCost& cost) {
  if (name.size() > kLongestName)
    return {};
  Search search(name, cost);
  std::vector<std::tuple<std::size_t, std::string_view>> near;
  for (const std::string& candidate : known)
    if (const auto distance = search.distanceOf(candidate))
      near.emplace_back(*distance, candidate);
  if (near.empty())
    for (const std::string& candidate : known)
      if (const auto distance = search.distanceOfBeginning(candidate))
        near.emplace_back(*distance, candidate);
  const std::size_t count = std::min({near.size(), limit, kMostNearNames});
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count), near.end());
  std::vector<std::string> names;
  for (const auto& [distance, candidate] : std::span(near).first(count))
    names.emplace_back(candidate);
  return names;
}

std::vector<std::string> nearNames(std::string_view name, const std::vector<std::string>& known,
                                   std::size_t limit) {
  NearNamesCost cost;
  return nearNames(name, known, limit, cost);
}

std::string notAmong(std::string_view kind, std::string_view name,
                     const std::vector<std::string>& known) {
  const std::vector<std::string> near = nearNames(name, known);
  return fmt::format("no {} \"{}\"; {}available: {}", kind, name,
                     near.empty() ? "" : fmt::format("near it: {}; ", fmt::join(near, ", ")),
                     fmt::join(known, ", "));
}

std::string someOf(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 10;
  if (names.size() <= kMost)
    return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, ... ({} in all)", fmt::join(names.begin(), names.begin() + kMost, ", "),
                     names.size());
}

} // namespace octavo::base
