// Checks of modules that belong together and of modules that stay wide: projections that readers
// run as one product, even in different shards; and modules that readers build without
// quantization.

#include "octavo/Checkpoint/Lint/LintSubject.h"
#include "octavo/Checkpoint/ModuleNames/ModuleFamilies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace octavo::checkpoint {

namespace {

using Members = std::vector<const Layer*>;
constexpr std::size_t kNamed = 4; ///< numbers of a member that a finding prints

/// "one product, in_proj_qkvz (vLLM, models/qwen3_5.py)".
std::string productText(const Layer& member) {
  const FusedFamily& family = *fusedFamily(member.name);
  return fmt::format("one product, {} ({})", family.name, family.source);
}

/// Reports `rule` at the first member's part unless all members have the same numbers: one, or one
/// for each expert.
void expectSame(RuleName rule, const Members& members, std::optional<Part> Layer::* part,
                std::string_view word, Findings& findings) {
  std::vector<std::string> texts;
  bool differs = false;
  std::vector<float> first;
  for (const Layer* layer : members) {
    if (!(layer->*part))
      return;
    auto read = readScales(*(layer->*part));
    if (!read)
      return reportUnread(read.error(), findings);
    std::vector<float> values = std::move(*read);
    texts.push_back(
        fmt::format("{} has {:.6g}{}", layer->name,
                    fmt::join(values.begin(),
                              values.begin() + std::min<std::size_t>(values.size(), kNamed), ", "),
                    values.size() > kNamed ? ", ..." : ""));
    // NaN has findings of its own; NaN beside NaN is no difference.
    differs |= layer != members.front() && !std::ranges::equal(values, first, [](float a, float b) {
                 return a == b || (std::isnan(a) && std::isnan(b));
               });
    if (layer == members.front())
      first = std::move(values);
  }
  if (!differs)
    return;
  const StoredTensor& tensor = (members.front()->*part)->tensor;
  findings.push_back(finding(rule, tensor.shard->name(), tensor.name(),
                             fmt::format("{} differ: {}; they are {}", word, fmt::join(texts, ", "),
                                         productText(*members.front()))));
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
    findings.push_back(
        finding("fused-formats-differ", tensor.shard->name(), tensor.name(),
                fmt::format("{}; they are {}", fmt::join(texts, ", "), productText(first))));
    return;
  }
  // A block that happens to have the weight's size is still a block to readers.
  const bool isOfTensor = first.format && first.format->across == format::kWholeAxis &&
                          first.format->along == format::kWholeAxis;
  if (first.type.hasOuterScale)
    expectSame("fused-outer-scales-differ", members, &Layer::outer, "outer scales", findings);
  else if (isOfTensor)
    expectSame("fused-tensor-scales-differ", members, &Layer::scales, "scales of the whole tensor",
               findings);
  expectSame("fused-input-scales-differ", members, &Layer::inputScale, "input scales", findings);
}

void lintWideModule(const Layer& layer, Findings& findings) {
  const WideFamily* family = wideFamily(layer.name);
  if (!family || !family->isReported)
    return;
  const bool isRouter = family->kind == WideFamily::Kind::Router;
  const StoredTensor& tensor = layer.elements.tensor;
  findings.push_back(
      finding(isRouter ? RuleName("quantized-router") : RuleName("quantized-wide-module"),
              tensor.shard->name(), tensor.name(),
              isRouter ? fmt::format("{} is a router ({})", layer.name, family->source)
                       : fmt::format("{} {} ({})", layer.name, family->why, family->source)));
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

void lintWideModules(const LintSubject& subject, Findings& findings) {
  for (const Layer& layer : subject.inventory.layers)
    lintWideModule(layer, findings);
}

} // namespace octavo::checkpoint
