// What conditions of reader rules have in common.
#pragma once

#include "octavo/Checkpoint/Lint/LintReaders.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// Adds a finding of `rule`; `tensor` may be null.
void report(RuleName rule, Findings& findings, const StoredTensor* tensor, std::string what);

/// quant_method of config.json, empty where there is none; "modelopt" also where only
/// hf_quant_config.json is there.
std::string quantMethod(const Folder& folder);
bool isModelOpt(const Folder& folder);

bool hasFormat(const Layer& layer, std::string_view name);

/// A finding for the first layer of each format for which `affects` holds.
template <typename Affects>
void perFormat(const LintSubject& subject, RuleName rule, Findings& findings, Affects affects) {
  std::set<std::string_view> seen;
  for (const Layer& layer : subject.inventory.layers)
    if (layer.format && affects(layer) && seen.insert(layer.format->name).second)
      report(rule, findings, &layer.elements.tensor,
             fmt::format("the format is {}", layer.format->name));
}

} // namespace octavo::checkpoint
