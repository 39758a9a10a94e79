// Helpers of the conditions of reader rules.
#pragma once

#include "octavo/Checkpoint/Lint/LintReaders.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// Adds a finding of `rule` with the text `what`; `tensor` may be null.
void report(RuleName rule, Findings& findings, const StoredTensor* tensor, std::string what);

/// quant_method of config.json; "modelopt" also if only hf_quant_config.json exists; empty if there
/// is none.
std::string quantMethod(const Folder& folder);
bool isModelOpt(const Folder& folder);

/// Whether the layer has the scaled format `name`.
bool hasFormat(const Layer& layer, std::string_view name);

/// Adds a finding for the first layer of each format for which `affects` is true.
template <typename Affects>
void perFormat(const LintSubject& subject, RuleName rule, Findings& findings, Affects affects) {
  std::set<std::string_view> seen;
  for (const Layer& layer : subject.inventory.layers)
    if (layer.format && affects(layer) && seen.insert(layer.format->name).second)
      report(rule, findings, &layer.elements.tensor,
             fmt::format("the format is {}", layer.format->name));
}

} // namespace octavo::checkpoint
