// Checks for descriptions that disagree: two descriptions of one quantization, a label of the
// experts that does not fit them, and a quantizer's state left in the files.

#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/LeakedState.h"
#include "octavo/Checkpoint/Lint/LintSubject.h"
#include "octavo/Checkpoint/ModuleNames/Components.h"
#include "octavo/Checkpoint/ModuleNames/Experts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

namespace {

std::string lowerCase(std::string text) {
  for (char& c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The common content of config.json and hf_quant_config.json, in ModelOpt's form.
struct Description {
  std::vector<std::string> excluded;
  std::string cache; ///< "fp8"; empty: the cache stays wide
  std::optional<std::int64_t> group;
  std::set<std::string> layers; ///< "name: ALGORITHM" of quantized_layers
};

std::set<std::string> layersOf(const Json& block) {
  std::set<std::string> layers;
  if (const Json& listed = memberAt(block, {"quantized_layers"}); listed.is_object())
    for (const auto& [layer, value] : listed.items())
      layers.insert(fmt::format("{}: {}", layer, lowerCase(stringAt(value, "quant_algo"))));
  return layers;
}

Description ofQuantConfig(const Json& block) {
  return {stringsAt(block, "exclude_modules"), lowerCase(stringAt(block, "kv_cache_quant_algo")),
          integerAt(block, "group_size"), layersOf(block)};
}

Description ofConfig(const Json& block) {
  if (const Json& nested = memberAt(block, {"quantization"}); nested.is_object())
    return ofQuantConfig(nested);
  Description settings{stringsAt(block, "ignore"),
                       lowerCase(stringAt(block, "kv_cache_quant_algo")),
                       integerAt(block, "group_size"), layersOf(block)};
  const Json& scheme = memberAt(block, {"kv_cache_scheme"});
  if (scheme.is_string())
    settings.cache = lowerCase(scheme.get<std::string>());
  else if (scheme.is_object() && stringAt(scheme, "type") == "float")
    settings.cache = integerAt(scheme, "num_bits") == 4 ? "nvfp4" : "fp8";
  if (const Json& groups = memberAt(block, {"config_groups"});
      !settings.group && groups.is_object() && groups.size() == 1)
    settings.group = integerAt(memberAt(*groups.begin(), {"weights"}), "group_size");
  return settings;
}

/// The modules with a weight that a list excludes.
std::set<std::string_view> excludedOf(const Folder& folder, std::span<const std::string> list) {
  Findings broken; // already reported by reading the layout
  const NamePatterns patterns(list, PatternStyle::Wildcards, "exclude_modules", broken);
  std::set<std::string_view> modules;
  for (const StoredTensor& tensor : folder.tensors())
    if (const std::string_view module = moduleOf(tensor.name());
        lastComponent(tensor.name()) == "weight" && patterns.match(module))
      modules.insert(module);
  return modules;
}

/// The elements of `a` that `b` lacks, as text: "2 more, as model.layers.0.mlp.up_proj".
template <typename Set> std::string surplusText(const Set& a, const Set& b) {
  std::size_t count = 0;
  std::string first;
  for (const auto& each : a)
    if (!b.contains(each) && ++count == 1)
      first = std::string(each);
  return count == 0 ? "" : fmt::format("{} more, the first {}", count, inQuotes(first));
}

/// Reports two sets that differ, with the elements that only one of them has.
template <typename Set>
void compareSets(std::string_view noun, const Set& ofConfig, const Set& ofQuantConfig,
                 const std::function<void(std::string)>& report) {
  std::string text;
  for (const auto& [file, more] :
       {std::pair(kConfigFile, surplusText(ofConfig, ofQuantConfig)),
        std::pair(kQuantConfigFile, surplusText(ofQuantConfig, ofConfig))})
    if (!more.empty())
      text += fmt::format("{}{} has {}", text.empty() ? "" : "; ", file, more);
  if (!text.empty())
    report(fmt::format("{}: {}", noun, text));
}

void lintTwoFiles(const Folder& folder, Findings& findings) {
  const Json& block = folder.quantizationConfig();
  const Json& other = memberAt(folder.quantConfig(), {"quantization"});
  if (!stringAt(block, "quant_method").starts_with("modelopt") || !other.is_object())
    return;
  const auto report = [&](std::string what) {
    findings.push_back(finding("configurations-disagree", kQuantConfigFile, "", std::move(what)));
  };
  const Description first = ofConfig(block), second = ofQuantConfig(other);
  compareSets("modules that are not quantized", excludedOf(folder, first.excluded),
              excludedOf(folder, second.excluded), report);
  compareSets("quantized_layers", first.layers, second.layers, report);
  const auto cacheText = [](const std::string& cache) { return cache.empty() ? "wide" : cache; };
  if (first.cache != second.cache)
    report(fmt::format("the key-value cache is {} in {} and {} in {}", cacheText(first.cache),
                       kConfigFile, cacheText(second.cache), kQuantConfigFile));
  if (first.group && second.group && *first.group != *second.group)
    report(fmt::format("group_size is {} in {} and {} in {}", *first.group, kConfigFile,
                       *second.group, kQuantConfigFile));
}

/// Compares the quantization blocks of one config.json.
void lintBlocks(const Folder& folder, Findings& findings) {
  const std::vector<QuantizationBlock> blocks = quantizationBlocks(folder.config());
  const auto text = [](const QuantizationBlock& each) {
    const std::string method = stringAt(*each.block, "quant_method");
    return fmt::format("{} ({})", each.path,
                       method.empty() ? "no quant_method" : "quant_method " + method);
  };
  for (const QuantizationBlock& each : blocks)
    if (*each.block != *blocks.front().block)
      findings.push_back(
          finding("configurations-disagree", kConfigFile, "",
                  fmt::format("{} and {} are different", text(blocks.front()), text(each))));
}

/// Bits of the elements that a label names: 4 for "fp4", 8 for "float8_e4m3fn", 16 for "bfloat16".
std::optional<int> bitsOfLabel(const std::string& label) {
  const std::string name = lowerCase(label);
  for (const auto& [word, bits] : {std::pair("fp4", 4), std::pair("float4", 4), std::pair("fp8", 8),
                                   std::pair("float8", 8), std::pair("16", 16)})
    if (name.find(word) != name.npos)
      return bits;
  return std::nullopt;
}

/// Compares expert_dtype, DeepSeek-V4's label of its routed experts, with the experts.
void lintExpertLabel(const LintSubject& subject, Findings& findings) {
  const Folder& folder = subject.folder;
  const ExpertLabel label = expertLabel(folder);
  const std::optional<int> said = bitsOfLabel(label.value);
  if (!said)
    return;
  std::size_t others = 0, all = 0;
  std::string form;
  const StoredTensor* first = nullptr;
  const auto count = [&](int bits, std::string found, const StoredTensor& tensor) {
    ++all;
    if (bits == *said || ++others > 1)
      return;
    form = std::move(found);
    first = &tensor;
  };
  const auto isExpert = [](std::string_view module, std::string_view parameter) {
    return !expertsOf(module).empty() || isExpertStack(module, parameter);
  };
  for (const Layer& layer : subject.inventory.layers)
    if (isExpert(layer.name, layer.parameter))
      count(layer.type.element->width(), formatName(layer), layer.elements.tensor);
  for (const StoredTensor& tensor : subject.inventory.plain)
    if (tensor.entry->shape.size() >= 2 &&
        isExpert(moduleOf(tensor.name()), lastComponent(tensor.name())))
      count(16, std::string(tensor.entry->dtype->name), tensor);
  if (others > 0)
    findings.push_back(finding(
        "configuration-mismatch", first->shard->name(), first->name(),
        fmt::format("expert_dtype is {}; {} of {} weights of experts are stored otherwise, the "
                    "first is {}",
                    label.isDefault ? "missing, which readers of DeepSeek-V4 take for fp4"
                                    : inQuotes(label.value),
                    others, all, form)));
}

} // namespace

void lintDisagreement(const LintSubject& subject, Findings& findings) {
  lintTwoFiles(subject.folder, findings);
  lintBlocks(subject.folder, findings);
  lintExpertLabel(subject, findings);
}

void lintLeakedState(const LintSubject& subject, Findings& findings) {
  for (const StoredTensor& tensor : leakedState(subject.inventory))
    findings.push_back(finding("leaked-quantizer-state", tensor.shard->name(), tensor.name(),
                               fmt::format("a buffer of the quantizer of {}, which has its scales "
                                           "under their own names",
                                           *quantizedModule(tensor.name()))));
}

} // namespace octavo::checkpoint
