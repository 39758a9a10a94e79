#include "octavo/Checkpoint/Lint/LintReaders.h"

#include "octavo/Checkpoint/BlocksWithValues.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/NamePatterns.h"
#include "octavo/Checkpoint/Lint/ReaderConditions.h"
#include "octavo/Checkpoint/ModuleNames/AttentionModules.h"
#include "octavo/Checkpoint/ModuleNames/Experts.h"
#include "octavo/Checkpoint/ModuleNames/ModuleFamilies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

namespace octavo::checkpoint {

namespace {

/// quant_algo of a ModelOpt configuration; empty if there is none.
std::string quantAlgorithm(const Folder& folder) {
  for (const Json* json : {&memberAt(folder.quantConfig(), {"quantization", "quant_algo"}),
                           &memberAt(folder.quantizationConfig(), {"quant_algo"})})
    if (json->is_string())
      return json->get<std::string>();
  return "";
}

// The conditions, in the order of the table of rules.

/// The number of attention modules without cache scales in the checkpoint, and of all.
std::pair<std::ptrdiff_t, std::size_t> modulesWithoutScales(const LintSubject& subject) {
  std::set<std::string_view> with;
  for (const KvScales& kv : subject.inventory.kvScales)
    with.insert(kv.module);
  const std::vector<std::string> modules = attentionModules(subject.folder);
  return {std::ranges::count_if(modules,
                                [&](const std::string& module) { return !with.contains(module); }),
          modules.size()};
}

void kvDefault(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (subject.inventory.kvCacheFormat.empty())
    return;
  if (const auto [missing, all] = modulesWithoutScales(subject); missing > 0)
    report(rule, findings, nullptr,
           fmt::format("{} of {} attention modules have no scales for the cache", missing, all));
}

void kvValueOnly(const LintSubject& subject, RuleName rule, Findings& findings) {
  for (const KvScales& kv : subject.inventory.kvScales)
    if (kv.value && !kv.key)
      report(rule, findings, &kv.value->tensor, fmt::format("{} has v alone", kv.module));
}

void kvOneName(const LintSubject& subject, RuleName rule, Findings& findings) {
  for (const StoredTensor& tensor : subject.folder.tensors())
    if (tensor.name().ends_with(".kv_scale"))
      report(rule, findings, &tensor, "the name is kv_scale");
}

void kvSideFile(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (modulesWithoutScales(subject).first == 0)
    return; // all scales are in the checkpoint; the file is not needed
  for (const std::string& name : subject.folder.otherFiles())
    if (name == "kv_cache_scales.json")
      report(rule, findings, nullptr, "scales of the cache are in " + name);
}

void kvBelowOne(const LintSubject& subject, RuleName rule, Findings& findings) {
  for (const KvScales& kv : subject.inventory.kvScales)
    for (const std::optional<Part>* part : {&kv.key, &kv.value})
      if (*part) {
        const auto scales = readScales(**part, 1);
        if (!scales)
          return reportUnread(scales.error(), findings);
        for (float scale : *scales)
          if (scale < 1)
            report(rule, findings, &(*part)->tensor, fmt::format("the scale is {:.6g}", scale));
      }
}

void shiftedBytes(const LintSubject& subject, RuleName rule, Findings& findings) {
  for (const LayerCensus& census : subject.layers) {
    const Layer& layer = *census.layer;
    if (!layer.scales || layer.scales->format->specials != format::Specials::Scale ||
        layer.type.element->width() != 8)
      continue;
    std::uint64_t zero = census.scales->of(ScaleFault::Subnormal); // for E8M0: byte 0
    const std::uint64_t nan = census.scales->of(ScaleFault::Nan);
    if (zero > 0) { // over codes of 0 it makes no difference: 0 * 0.0 = 0 * 2^-127
      const auto blocks = blocksWithValues(layer, [](double scale) { return scale == 0x1p-127; });
      if (!blocks)
        return reportUnread(blocks.error(), findings);
      zero = blocks->value_or(zero);
    }
    if (zero + nan > 0)
      report(rule, findings, &layer.scales->tensor,
             fmt::format("{} scale bytes over codes that are not all 0 are 0, and {} are 255", zero,
                         nan));
  }
}

void requantized(const LintSubject& subject, RuleName rule, Findings& findings) {
  Findings fused;
  lintFused(subject, fused);
  for (Finding& finding : fused)
    if (finding.rule == "fused-tensor-scales-differ") {
      report(rule, findings, nullptr, std::move(finding.what));
      findings.back().file = std::move(finding.file);
      findings.back().tensor = std::move(finding.tensor);
    }
}

void staticBlocks(const LintSubject& subject, RuleName rule, Findings& findings) {
  const Json& config = subject.folder.quantizationConfig();
  if (memberAt(config, {"weight_block_size"}).is_array() &&
      memberAt(config, {"activation_scheme"}) != "dynamic")
    report(rule, findings, nullptr,
           fmt::format("weight_block_size goes with activation_scheme {}",
                       memberAt(config, {"activation_scheme"}).dump()));
}

void noExport(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (quantMethod(subject.folder) == "quark" &&
      !memberAt(subject.folder.quantizationConfig(), {"export"}).is_object())
    report(rule, findings, nullptr, "quantization_config has no export");
}

void unknownAlgorithm(const LintSubject& subject, RuleName rule, Findings& findings) {
  static constexpr auto kKnown =
      std::to_array<std::string_view>({"FP8", "FP8_PER_CHANNEL_PER_TOKEN", "FP8_PB_WO", "NVFP4",
                                       "W4A16_NVFP4", "MXFP8", "MIXED_PRECISION"});
  const std::string algorithm = quantAlgorithm(subject.folder);
  if (isModelOpt(subject.folder) && !algorithm.empty() &&
      std::ranges::find(kKnown, algorithm) == kKnown.end())
    report(rule, findings, nullptr, fmt::format("quant_algo is {}", inQuotes(algorithm)));
}

void inverseNameInModelOpt(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (!isModelOpt(subject.folder))
    return;
  for (const StoredTensor& tensor : subject.folder.tensors())
    if (tensor.name().ends_with(".weight_scale_inv"))
      report(rule, findings, &tensor, "a ModelOpt checkpoint calls it weight_scale_inv");
}

void doubledToInf(const LintSubject& subject, RuleName rule, Findings& findings) {
  for (const LayerCensus& census : subject.layers)
    if (census.scales && census.layer->elements.format->name == "e4m3fn" &&
        census.scales->largest > std::numeric_limits<float>::max() / 2)
      report(rule, findings, &census.layer->scales->tensor,
             fmt::format("the largest scale is {:.6g}", census.scales->largest));
}

void nanTo240(const LintSubject& subject, RuleName rule, Findings& findings) {
  for (const LayerCensus& census : subject.layers)
    if (census.layer->elements.format->name == "e4m3fn" && census.codes.nan > 0)
      report(rule, findings, &census.layer->elements.tensor,
             fmt::format("{} codes are NaN", census.codes.nan));
}

void noScheme(const LintSubject& subject, RuleName rule, Findings& findings) {
  const std::string method = quantMethod(subject.folder);
  perFormat(subject, rule, findings, [&](const Layer& layer) {
    if (method == "compressed-tensors")
      return hasFormat(layer, "fp8_group") || hasFormat(layer, "mxfp6_e2m3");
    return method == "quark" && (hasFormat(layer, "fp8_group") || hasFormat(layer, "mxfp8_e5m2"));
  });
}

void weightsAloneInQuark(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (quantMethod(subject.folder) == "quark")
    perFormat(subject, rule, findings, [](const Layer& layer) {
      return layer.activations.kind == Activations::Kind::None &&
             (hasFormat(layer, "fp8_tensor") || hasFormat(layer, "fp8_row"));
    });
}

void ownMethod(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (quantMethod(subject.folder) == "octavo")
    report(rule, findings, nullptr, "quant_method is octavo, the native layout");
}

void noInputScale(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (!isModelOpt(subject.folder))
    return;
  for (const Layer& layer : subject.inventory.layers)
    if (hasFormat(layer, "fp8_tensor") && layer.storedAxes == StoredAxes::Same && !layer.inputScale)
      report(rule, findings, &layer.elements.tensor,
             fmt::format("there is no {}.input_scale", layer.name));
}

/// The modules that a ModelOpt configuration excludes. As in vLLM, config.json takes precedence if
/// both files have a list.
std::vector<std::string> excludedModules(const Folder& folder) {
  const Json& config = folder.quantizationConfig();
  for (auto [block, key] :
       {std::pair(&config, "ignore"),
        std::pair(&memberAt(config, {"quantization"}), "exclude_modules"),
        std::pair(&memberAt(folder.quantConfig(), {"quantization"}), "exclude_modules")})
    if (std::vector<std::string> names = stringsAt(*block, key); !names.empty())
      return names;
  return {};
}

/// The module of vLLM's model that runs `layer`: the fused product, or the module of all experts.
std::string moduleInVllm(const Layer& layer) {
  if (const std::string_view experts = expertsOf(layer.name); !experts.empty())
    return std::string(experts);
  return fusedGroup(layer.name).value_or(layer.name);
}

void excludedBySubstring(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (!isModelOpt(subject.folder))
    return;
  const std::vector<std::string> entries = excludedModules(subject.folder);
  Findings ofPatterns; // already reported by reading the layout
  const NamePatterns excluded(entries, PatternStyle::Wildcards, "exclude_modules", ofPatterns);
  struct Quantized {
    const Layer* layer;
    std::string module;
  };
  std::vector<Quantized> quantized;
  for (const Layer& layer : subject.inventory.layers)
    if (layer.format && !excluded.match(layer.name))
      quantized.push_back({&layer, moduleInVllm(layer)});
  for (const std::string& entry : entries) {
    const auto isHidden = [&](const Quantized& each) {
      return each.module.find(entry) != std::string::npos;
    };
    const auto first = std::ranges::find_if(quantized, isHidden);
    if (first != quantized.end())
      report(rule, findings, &first->layer->elements.tensor,
             fmt::format("{} is excluded, which is a part of the name {}; quantized layers that it "
                         "hides: {}",
                         inQuotes(entry), inQuotes(first->module),
                         std::count_if(first, quantized.end(), isHidden)));
  }
}

void raggedModelOpt(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (!isModelOpt(subject.folder))
    return;
  for (const Layer& layer : subject.inventory.layers)
    if (hasFormat(layer, "fp8_block"))
      if (const std::span matrix = std::span(layer.shape).last(2);
          matrix[0] % 128 != 0 || matrix[1] % 128 != 0)
        report(rule, findings, &layer.elements.tensor,
               fmt::format("{} x {} is not a multiple of 128 x 128", matrix[0], matrix[1]));
}

/// Adds a finding for the first tensor of each dtype for which `affects` is true.
template <typename Affects>
void perDtype(const LintSubject& subject, RuleName rule, Findings& findings, Affects affects) {
  std::set<std::string_view> seen;
  for (const StoredTensor& tensor : subject.folder.tensors())
    if (affects(*tensor.entry) && seen.insert(tensor.entry->dtype->name).second)
      report(rule, findings, &tensor, fmt::format("the dtype is {}", tensor.entry->dtype->name));
}

void sixBits(const LintSubject& subject, RuleName rule, Findings& findings) {
  perDtype(subject, rule, findings,
           [](const SafetensorsEntry& entry) { return entry.dtype->name.starts_with("F6_"); });
}

void oddFours(const LintSubject& subject, RuleName rule, Findings& findings) {
  perDtype(subject, rule, findings, [](const SafetensorsEntry& entry) {
    return entry.dtype->name == "F4" && (entry.shape.empty() || entry.shape.back() % 2 != 0);
  });
}

void newDtypes(const LintSubject& subject, RuleName rule, Findings& findings) {
  perDtype(subject, rule, findings, [](const SafetensorsEntry& entry) {
    return entry.dtype->name == "F4" || entry.dtype->name == "F8_E8M0";
  });
}

void newestDtypes(const LintSubject& subject, RuleName rule, Findings& findings) {
  perDtype(subject, rule, findings,
           [](const SafetensorsEntry& entry) { return entry.dtype->name.ends_with("FNUZ"); });
}

constexpr auto kChecks = std::to_array<ReaderCheck>({
    {"kv-scales-default-to-one", kvDefault},
    {"kv-value-scale-alone", kvValueOnly},
    {"kv-one-scale-for-both", kvOneName},
    {"kv-side-file-unread", kvSideFile},
    {"kv-scale-clamped-to-one", kvBelowOne},
    {"e8m0-bytes-shifted", shiftedBytes},
    {"fused-weights-requantized", requantized},
    {"blocks-want-dynamic", staticBlocks},
    {"quark-export-missing", noExport},
    {"modelopt-algorithm-unknown", unknownAlgorithm},
    {"modelopt-inverse-name", inverseNameInModelOpt},
    {"modelopt-input-scale-unset", noInputScale},
    {"modelopt-excluded-by-substring", excludedBySubstring},
    {"modelopt-ragged-blocks", raggedModelOpt},
    {"no-scheme-for-format", noScheme},
    {"quark-weights-alone", weightsAloneInQuark},
    {"octavo-method-unknown", ownMethod},
    {"fnuz-doubled-scale", doubledToInf},
    {"fnuz-nan-codes", nanTo240},
    {"dtype-without-torch", sixBits},
    {"f4-odd-row", oddFours},
    {"dtype-since-0.6", newDtypes},
    {"dtype-since-0.8", newestDtypes},
});

} // namespace

void lintReader(const LintSubject& subject, Reader reader, Findings& findings) {
  for (const std::span<const ReaderCheck> checks :
       {std::span<const ReaderCheck>(kChecks), transformersChecks()})
    for (const ReaderCheck& check : checks)
      if (check.rule.rule().readers.has(reader))
        check.check(subject, check.rule, findings);
}

std::vector<RuleName> checkedReaderRules() {
  std::vector<RuleName> rules;
  for (const std::span<const ReaderCheck> checks :
       {std::span<const ReaderCheck>(kChecks), transformersChecks()})
    for (const ReaderCheck& check : checks)
      rules.push_back(check.rule);
  return rules;
}

} // namespace octavo::checkpoint
