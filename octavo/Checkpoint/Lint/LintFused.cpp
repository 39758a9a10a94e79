// Projections that readers run as one product: their formats and single scales have to agree, also
// where they lie in different shards.

#include "octavo/Checkpoint/FusedModules.h"
#include "octavo/Checkpoint/Lint/LintSubject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace octavo::checkpoint {

namespace {

using Members = std::vector<const Layer*>;

/// The one value of a part; nothing where there are several or none.
std::optional<float> single(const std::optional<Part>& part) {
  if (!part)
    return std::nullopt;
  const std::vector<float> values = readScales(*part, 2);
  return values.size() == 1 ? std::optional(values.front()) : std::nullopt;
}

/// Reports `rule` at the first member's part if not all members have the same single value.
void expectSame(std::string_view rule, const Members& members, std::optional<Part> Layer::*part,
                std::string_view word, Findings& findings) {
  std::vector<std::string> texts;
  bool differs = false;
  std::optional<float> first;
  for (const Layer* layer : members) {
    const std::optional<float> value = single(layer->*part);
    if (!value)
      return;
    differs |= first.has_value() && *first != *value;
    first = first.value_or(*value);
    texts.push_back(fmt::format("{} has {:.6g}", layer->name, *value));
  }
  if (!differs)
    return;
  const StoredTensor& tensor = (members.front()->*part)->tensor;
  findings.push_back(lintFinding(rule, tensor.shard->name(), tensor.name(),
                                 fmt::format("{} differ: {}", word, fmt::join(texts, ", "))));
}

std::string_view formatName(const Layer& layer) {
  return layer.format ? layer.format->name : layer.type.element->name;
}

void lintGroup(const Members& members, std::span<const std::string> plain, Findings& findings) {
  const Layer& first = *members.front();
  const bool isMixed = std::ranges::any_of(
      members, [&](const Layer* layer) { return formatName(*layer) != formatName(first); });
  if (isMixed || !plain.empty()) {
    std::vector<std::string> texts;
    for (const Layer* layer : members)
      texts.push_back(fmt::format("{} is {}", layer->name, formatName(*layer)));
    for (const std::string& name : plain)
      texts.push_back(fmt::format("{} is not quantized", name));
    const StoredTensor& tensor = first.elements.tensor;
    findings.push_back(lintFinding("fused-formats-differ", tensor.shard->name(), tensor.name(),
                                   fmt::format("{}", fmt::join(texts, ", "))));
    return;
  }
  if (members.size() < 2)
    return;
  // A block that happens to be as large as the weight stays a block to readers.
  const bool isOfTensor = first.format && first.format->across == format::kWholeAxis &&
                          first.format->along == format::kWholeAxis;
  if (first.type.hasOuterScale)
    expectSame("fused-outer-scales-differ", members, &Layer::outer, "outer scales", findings);
  else if (isOfTensor)
    expectSame("fused-tensor-scales-differ", members, &Layer::scales, "scales of the whole tensor",
               findings);
  expectSame("fused-input-scales-differ", members, &Layer::inputScale, "input scales", findings);
}

} // namespace

void lintFused(const LintSubject& subject, Findings& findings) {
  struct Group {
    Members members;
    std::vector<std::string> plain;
  };
  std::map<std::string, Group> groups;
  for (const Layer& layer : subject.inventory.layers)
    if (const auto group = fusedGroup(layer.name))
      groups[*group].members.push_back(&layer);
  constexpr std::string_view kWeight = ".weight";
  for (const StoredTensor& tensor : subject.inventory.plain) {
    if (!tensor.name().ends_with(kWeight))
      continue;
    std::string module = tensor.name().substr(0, tensor.name().size() - kWeight.size());
    if (const auto group = fusedGroup(module))
      groups[*group].plain.push_back(std::move(module));
  }
  for (const auto& [name, group] : groups)
    if (!group.members.empty())
      lintGroup(group.members, group.plain, findings);
}

} // namespace octavo::checkpoint
