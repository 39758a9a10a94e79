// Checks of the scales of the key-value cache.

#include "octavo/Checkpoint/KvScales/ScaleFile.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Lint/LintSubject.h"
#include "octavo/Checkpoint/ModuleNames/AttentionModules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace octavo::checkpoint {

namespace {

/// Bounds of plausible scales. amax = scale * 448 for an FP8 cache. In published models keys reach
/// some hundreds and values some tens; the bounds leave two orders of magnitude.
constexpr float kLargestPlausibleKvScale = 128, kSmallestPlausibleKvScale = 1.0f / (1 << 20);

bool isDeprecated(const Part& part) { return part.tensor.name().ends_with(".kv_scale"); }

void lintOne(const Part& part, Findings& findings) {
  const auto report = [&](RuleName rule, std::string what) {
    findings.push_back(
        finding(rule, part.tensor.shard->name(), part.tensor.name(), std::move(what)));
  };
  if (isDeprecated(part))
    report("kv-scale-deprecated-name", "the scale is called kv_scale");
  const auto scales = readScales(part);
  if (!scales)
    return reportUnread(scales.error(), findings);
  for (float scale : *scales)
    if (scale > 0 && (scale > kLargestPlausibleKvScale || scale < kSmallestPlausibleKvScale)) {
      report("kv-scale-implausible",
             fmt::format("the scale is {:.6g}, so the cache would hold sizes up to {:.4g}", scale,
                         scale * 448));
      break;
    }
}

/// The number of key and value heads in the model's configuration: a cache has one scale or one for
/// each of them. nullopt if it is not stated.
std::optional<std::int64_t> headsOf(const Folder& folder) {
  for (const char* key : {"num_key_value_heads", "num_attention_heads"})
    if (const Json& heads = modelMember(folder.config(), key); heads.is_number_unsigned())
      return heads.get<std::int64_t>();
  return std::nullopt;
}

/// The strategy of cache scales that the configuration states: "tensor", "attn_head"; empty if it
/// states none.
std::string strategyOf(const Folder& folder) {
  return stringAt(memberAt(folder.quantizationConfig(), {"kv_cache_scheme"}), "strategy");
}

void lintCount(const LintSubject& subject, const Part& part, Findings& findings) {
  const StoredTensor& tensor = part.tensor;
  const auto report = [&](RuleName rule, std::string what) {
    findings.push_back(finding(rule, tensor.shard->name(), tensor.name(), std::move(what)));
  };
  const std::int64_t count = numerics::elementCount(tensor.entry->shape);
  const std::optional<std::int64_t> heads = headsOf(subject.folder);
  const std::string strategy = strategyOf(subject.folder);
  if (count > 1 && heads && count != *heads)
    return report("kv-scale-count", fmt::format("{} scales, where the model has {} heads of keys "
                                                "and values",
                                                count, *heads));
  const bool saysHeads = strategy == "attn_head";
  if (!strategy.empty() && heads != 1 && saysHeads != (count > 1))
    return report("configuration-mismatch",
                  fmt::format("kv_cache_scheme says {}, and there {}", inQuotes(strategy),
                              count == 1 ? "is one scale" : fmt::format("are {} scales", count)));
  if (count > 1 && !saysHeads)
    report("kv-scale-per-head", fmt::format("{} scales, one a head", count));
}

/// Reports scales for both keys and values that other scales override with different values.
void lintOutweighed(const KvScales& kv, Findings& findings) {
  for (const Part& part : kv.repeated) {
    if (!isDeprecated(part) || !kv.key || !kv.value)
      continue;
    const auto both = readScales(part), keys = readScales(*kv.key), values = readScales(*kv.value);
    for (const auto* read : {&both, &keys, &values})
      if (!*read)
        return reportUnread(read->error(), findings);
    if (*both != *keys || *both != *values)
      findings.push_back(finding(
          "kv-scale-outweighed", part.tensor.shard->name(), part.tensor.name(),
          fmt::format("{:.6g} for keys and values, beside {:.6g} for keys and {:.6g} for "
                      "values",
                      fmt::join(*both, ", "), fmt::join(*keys, ", "), fmt::join(*values, ", "))));
  }
}

/// Checks the scale file that old vLLM read beside the checkpoint.
void lintSideFile(const Folder& folder, Findings& findings) {
  constexpr std::string_view kName = "kv_cache_scales.json";
  if (std::ranges::find(folder.otherFiles(), kName) == folder.otherFiles().end())
    return;
  const auto scales =
      readKvScaleJson(folder.path() / kName, stringAt(folder.config(), "model_type"));
  if (scales)
    return;
  Error error = scales.error();
  error.file.clear();
  error.fix.clear();
  findings.push_back(finding("kv-side-file-unusable", std::string(kName), "",
                             error.message().substr(2))); // after the empty file's ": "
}

} // namespace

void lintKvScales(const LintSubject& subject, Findings& findings) {
  std::map<std::string_view, const KvScales*> byModule;
  for (const KvScales& kv : subject.inventory.kvScales)
    byModule.emplace(kv.module, &kv);

  const bool wantsScales =
      !subject.inventory.kvCacheFormat.empty() || !subject.inventory.kvScales.empty();
  if (wantsScales)
    for (const std::string& module : attentionModules(subject.folder))
      if (!byModule.contains(module))
        findings.push_back(finding(
            "kv-scale-missing", "", module + ".k_scale",
            subject.inventory.kvCacheFormat.empty()
                ? fmt::format("{} has no scales, but other attention modules do", module)
                : fmt::format("the configuration asks for an {} cache, but {} has no scales",
                              subject.inventory.kvCacheFormat, module)));

  if (const auto& all = subject.inventory.kvScales;
      !all.empty() && subject.inventory.kvCacheFormat.empty() && saysQuantized(subject.folder) &&
      !subject.isForeign && saysCaches(subject.layout))
    findings.push_back(finding(
        "kv-scheme-missing", "config.json", "",
        fmt::format("it does not mention the cache, but {} attention modules have scales for it",
                    all.size())));
  lintSideFile(subject.folder, findings);

  for (const KvScales& kv : subject.inventory.kvScales) {
    lintOutweighed(kv, findings);
    if (kv.key.has_value() != kv.value.has_value()) {
      const Part& part = kv.key ? *kv.key : *kv.value;
      findings.push_back(
          finding("kv-scale-partial", part.tensor.shard->name(), part.tensor.name(),
                  kv.key ? fmt::format("{} has a scale for keys but none for values", kv.module)
                         : fmt::format("{} has a scale for values but none for keys", kv.module)));
    }
    // An old kv_scale is both parts: its findings occur twice and are reported once.
    for (const auto& [role, part] : scalesOf(kv))
      lintOne(*part, findings);
    for (const std::optional<Part>* part : {&kv.key, &kv.value})
      if (*part)
        lintCount(subject, **part, findings);
  }
}

} // namespace octavo::checkpoint
