#include "octavo/Runtime/NearNames.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <tuple>

namespace octavo::runtime {

namespace {

std::string sorted(std::string text) {
  std::sort(text.begin(), text.end());
  return text;
}

} // namespace

std::vector<std::string> nearNames(std::string_view name, const std::vector<std::string>& known,
                                   std::size_t limit) {
  const std::string wanted = llvm::StringRef(name).lower();
  const auto furthest =
      static_cast<unsigned>(wanted.size() <= 3 ? 1 : std::max<std::size_t>(2, wanted.size() / 3));
  std::vector<std::tuple<unsigned, std::string>> near;
  for (const std::string& candidate : known) {
    const std::string lower = llvm::StringRef(candidate).lower();
    const unsigned distance = llvm::StringRef(wanted).edit_distance(lower);
    const bool contains =
        !wanted.empty() && !lower.empty() &&
        (lower.find(wanted) != std::string::npos || wanted.find(lower) != std::string::npos);
    if (distance <= furthest || contains || sorted(lower) == sorted(wanted))
      near.emplace_back(distance, candidate);
  }
  std::sort(near.begin(), near.end());
  if (near.size() > limit)
    near.resize(limit);
  std::vector<std::string> names;
  for (auto& [distance, candidate] : near)
    names.push_back(std::move(candidate));
  return names;
}

} // namespace octavo::runtime
