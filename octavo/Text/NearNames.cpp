#include "octavo/Text/NearNames.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace octavo::text {

namespace {

/// ASCII letters in lower case; other bytes, of UTF-8, as they are.
std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z')
      letter = static_cast<char>(letter - 'A' + 'a');
  return lower;
}

/// The fewest insertions, deletions and replacements of a byte that make `a` of `b` (Levenshtein).
std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> distances(b.size() + 1); // of a's first i bytes from b's first j
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

std::string sorted(std::string text) {
  std::sort(text.begin(), text.end());
  return text;
}

} // namespace

std::vector<std::string> nearNames(std::string_view name, const std::vector<std::string>& known,
                                   std::size_t limit) {
  const std::string wanted = lowered(name);
  const std::size_t furthest = wanted.size() <= 3 ? 1 : std::max<std::size_t>(2, wanted.size() / 3);
  std::vector<std::tuple<std::size_t, std::string>> near;
  for (const std::string& candidate : known) {
    const std::string lower = lowered(candidate);
    const std::size_t distance = editDistance(wanted, lower);
    const bool contains =
        !wanted.empty() && !lower.empty() &&
        (lower.find(wanted) != std::string::npos || wanted.find(lower) != std::string::npos);
    if (distance <= furthest || contains || sorted(lower) == sorted(wanted))
      near.emplace_back(distance, candidate);
  }
  // The beginning of a long name may stand for it, misspelled too.
  if (near.empty() && wanted.size() >= 4)
    for (const std::string& candidate : known)
      if (const std::size_t distance =
              editDistance(wanted, lowered(candidate).substr(0, wanted.size()));
          distance <= furthest)
        near.emplace_back(distance, candidate);
  std::sort(near.begin(), near.end());
  if (near.size() > limit)
    near.resize(limit);
  std::vector<std::string> names;
  for (auto& [distance, candidate] : near)
    names.push_back(std::move(candidate));
  return names;
}

} // namespace octavo::text
