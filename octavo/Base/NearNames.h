// Names near a name that was not found, for error messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::base {

/// The most names that nearNames gives.
inline constexpr std::size_t kMostNearNames = 10;

/// What a search may still cost, in pairs of bytes that are compared. A name of 50 bytes is held
/// against some 20,000 others of that length before it is used up, within a fraction of a second.
struct NearNamesCost {
  std::size_t left = 50'000'000;
};

/// At most `limit` of `known` (and kMostNearNames), nearest first by edit distance, those no
/// further than a third of the length of `name` (at least 2; 1 for names up to 3 long); a name that
/// contains the other, or is contained in it, or has the same letters in another order, is near at
/// any distance. Upper and lower case are alike. Names of more than 256 bytes are near none, and
/// when `cost` is used up, only those that need no distance are found.
std::vector<std::string> nearNames(std::string_view name, const std::vector<std::string>& known,
                                   std::size_t limit, NearNamesCost& cost);
std::vector<std::string> nearNames(std::string_view name, const std::vector<std::string>& known,
                                   std::size_t limit = 3);

/// `no KIND "NAME"; near it: ...; available: ...`, of a name that none of `known` is.
std::string notAmong(std::string_view kind, std::string_view name,
                     const std::vector<std::string>& known);

/// What the rows of a table are called.
template <typename Rows> std::vector<std::string> namesOf(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows)
    names.emplace_back(row.name);
  return names;
}

/// The first ten names, and how many there are where there are more: "a, b, ... (4000 in all)".
std::string someOf(const std::vector<std::string>& names);

} // namespace octavo::base
