// Checks of experts that are separate modules: readers stack them, so all must have one format and
// the same kinds of scales.

#include "octavo/Checkpoint/Lint/LintSubject.h"
#include "octavo/Checkpoint/ModuleNames/Experts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace octavo::checkpoint {

namespace {

constexpr std::size_t kNamedExperts = 4; ///< experts that a finding names

/// One expert's projection.
struct ExpertPart {
  std::string form; ///< "nvfp4", "BF16, not quantized"
  bool isQuantized, hasInput;
  StoredTensor tensor;
};
using ExpertParts = std::map<std::uint32_t, ExpertPart>; ///< by expert number
/// By module of all experts and part of one expert.
using Projections = std::map<std::pair<std::string, std::string>, ExpertParts, std::less<>>;

Projections projectionsOf(const Inventory& inventory) {
  Projections projections;
  const auto add = [&](std::string_view module, ExpertPart member) {
    if (const std::optional<Expert> expert = expertOf(module))
      projections[{std::string(expert->experts), std::string(expert->part)}].emplace(
          expert->number, std::move(member));
  };
  for (const Layer& layer : inventory.layers)
    add(layer.name, {formatName(layer), true, layer.inputScale.has_value(), layer.elements.tensor});
  constexpr std::string_view kWeight = ".weight";
  for (const StoredTensor& tensor : inventory.plain)
    if (tensor.name().ends_with(kWeight) && tensor.entry->shape.size() == 2)
      add(std::string_view(tensor.name()).substr(0, tensor.name().size() - kWeight.size()),
          {fmt::format("{}, not quantized", tensor.entry->dtype->name), false, false, tensor});
  return projections;
}

/// "expert 2", "experts 2, 5, 7, 8 and 3 more".
std::string expertsText(const std::vector<std::uint32_t>& numbers) {
  const std::size_t shown = std::min(numbers.size(), kNamedExperts);
  std::string text = fmt::format("expert{} {}", numbers.size() == 1 ? "" : "s",
                                 fmt::join(numbers.begin(), numbers.begin() + shown, ", "));
  if (numbers.size() > shown)
    text += fmt::format(" and {} more", numbers.size() - shown);
  return text;
}

/// The text that `say` gives for most members, and the members that differ.
template <typename Say>
std::pair<std::string, std::vector<std::uint32_t>> minority(const ExpertParts& members,
                                                            const Say& say) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [number, member] : members)
    ++counts[say(member)];
  const std::string most =
      std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; })->first;
  std::vector<std::uint32_t> others;
  for (const auto& [number, member] : members)
    if (say(member) != most)
      others.push_back(number);
  return {most, others};
}

void lintProjection(const std::string& experts, const std::string& part, const ExpertParts& members,
                    const std::set<std::uint32_t>& numbers, Findings& findings) {
  if (std::ranges::none_of(members, [](const auto& each) { return each.second.isQuantized; }))
    return;
  const auto report = [&](std::uint32_t number, std::string what) {
    const auto found = members.find(number);
    const StoredTensor& tensor = (found == members.end() ? members.begin() : found)->second.tensor;
    findings.push_back(finding("experts-differ", tensor.shard->name(), tensor.name(),
                               fmt::format("{} of {}: {}", part, experts, std::move(what))));
  };
  const auto [form, otherForms] =
      minority(members, [](const ExpertPart& each) { return each.form; });
  if (!otherForms.empty()) {
    report(otherForms.front(),
           fmt::format("{} {} {} where {} of {} are {}", expertsText(otherForms),
                       otherForms.size() == 1 ? "is" : "are", members.at(otherForms.front()).form,
                       members.size() - otherForms.size(), members.size(), form));
  } else {
    std::vector<std::uint32_t> without;
    for (const auto& [number, member] : members)
      if (!member.hasInput)
        without.push_back(number);
    if (!without.empty() && without.size() < members.size())
      report(without.front(),
             fmt::format("{} {} no input scale, which {} of {} have", expertsText(without),
                         without.size() == 1 ? "has" : "have", members.size() - without.size(),
                         members.size()));
  }
  std::vector<std::uint32_t> missing;
  for (const std::uint32_t number : numbers)
    if (!members.contains(number))
      missing.push_back(number);
  if (!missing.empty())
    report(missing.front(), fmt::format("{} {} not there", expertsText(missing),
                                        missing.size() == 1 ? "is" : "are"));
}

} // namespace

void lintExperts(const LintSubject& subject, Findings& findings) {
  const Projections projections = projectionsOf(subject.inventory);
  std::map<std::string_view, std::set<std::uint32_t>> numbers; // numbers of a layer's experts
  for (const auto& [key, members] : projections)
    for (const auto& [number, member] : members)
      numbers[key.first].insert(number);
  // If a few numbers between the first and the last are missing, report them; a pruned model lacks
  // most.
  for (auto& [experts, found] : numbers)
    if (const std::uint64_t range = std::uint64_t{*found.rbegin()} - *found.begin() + 1;
        range < 2 * found.size())
      for (std::uint32_t number = *found.begin(), last = *found.rbegin(); number < last; ++number)
        found.insert(number);
  for (const auto& [key, members] : projections)
    lintProjection(key.first, key.second, members, numbers.at(key.first), findings);
}

} // namespace octavo::checkpoint
