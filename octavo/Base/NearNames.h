// Suggestions for a name that was not found, for error messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::base {

/// The most names that nearNames returns.
inline constexpr std::size_t kMostNearNames = 10;

/// The budget of a search, in comparisons of byte pairs. It suffices to compare a name of 50 bytes
/// with about 20,000 others of that length, in a fraction of a second.
struct NearNamesCost {
  std::size_t left = 50'000'000;
};

/// The names of `known` nearest to `name`, nearest first, at most min(limit, kMostNearNames). Case
/// is ignored for ASCII letters. A name is near if
/// - its edit distance is at most a third of the length of `name` (at least 2; 1 for names of up to
///   3 bytes),
/// - one of the two names contains the other, or
/// - both have the same letters in another order.
///
/// If no name is near, names are considered whose beginning is. Names longer than 256 bytes are
/// never near. When `cost` is used up, only the rules that need no edit distance apply.
std::vector<std::string> nearNames(std::string_view name, const std::vector<std::string>& known,
                                   std::size_t limit, NearNamesCost& cost);
std::vector<std::string> nearNames(std::string_view name, const std::vector<std::string>& known,
                                   std::size_t limit = 3);

/// `no KIND "NAME"; near it: ...; available: ...`, for a name that is not in `known`.
std::string notAmong(std::string_view kind, std::string_view name,
                     const std::vector<std::string>& known);

/// The names of a table's rows.
template <typename Rows> std::vector<std::string> namesOf(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows)
    names.emplace_back(row.name);
  return names;
}

/// The names, or if there are more than ten, the first ten and the count: "a, b, ... (4000 in
/// all)".
std::string someOf(const std::vector<std::string>& names);

} // namespace octavo::base
