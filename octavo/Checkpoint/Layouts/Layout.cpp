#include "octavo/Checkpoint/Layouts/Layout.h"

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/LayerScan.h"
#include "octavo/Checkpoint/Layouts/Layouts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace octavo::checkpoint {

std::string tensorName(std::string_view module, std::string_view parameter,
                       std::string_view spelled) {
  std::string name(module);
  if (!name.empty())
    name += '.';
  if (spelled.starts_with('*')) {
    name += parameter;
    spelled.remove_prefix(1);
  }
  return name.append(spelled);
}

const LayerSpelling* Layout::spelling(std::string_view format, std::size_t rank) const {
  const Holds wanted = rank == 3 ? Holds::Stacks : Holds::Matrices;
  const LayerSpelling* found = nullptr;
  for (const LayerSpelling& row : spellings())
    if (row.format == format && row.access == Access::ReadAndWrite &&
        (!found || row.holds == wanted))
      found = &row;
  return found;
}

std::optional<std::string> Layout::detectByTensors(const Folder& folder) const {
  const std::size_t count = countExactLayers(folder, spellings());
  if (count == 0)
    return std::nullopt;
  return fmt::format("names, dtypes and shapes of {} weights and their scales", count);
}

/// Whether the configurations written for two choices differ.
static bool differ(const Layout& layout, const LayoutChoice& a, const LayoutChoice& b) {
  Json configs[2], quantConfigs[2];
  layout.configure(a, configs[0], quantConfigs[0]);
  layout.configure(b, configs[1], quantConfigs[1]);
  return configs[0] != configs[1] || quantConfigs[0] != quantConfigs[1];
}

bool saysCaches(const Layout& layout) {
  return differ(layout, {.kvScales = true}, {.kvScales = false});
}

bool saysHeads(const Layout& layout) {
  return differ(layout, {.kvScales = true, .kvScalesPerHead = true}, {.kvScales = true});
}

std::span<const Layout* const> layouts() {
  static const std::array<const Layout*, 11> list = {
      &fp8Layout(),      &deepSeekLayout(), &compressedTensorsLayout(),
      &modelOptLayout(), &quarkLayout(),    &gptOssLayout(),
      &comfyLayout(),    &mlxLayout(),      &torchAoLayout(),
      &nativeLayout(),   &plainLayout()};
  return list;
}

const Layout* findLayout(std::string_view name) {
  const auto found = std::ranges::find(layouts(), name, &Layout::name);
  return found == layouts().end() ? nullptr : *found;
}

/// A tensor of narrow floats with a tensor beside it that is named like its scales; null if there
/// is none.
static const StoredTensor* scaledCodes(const Folder& folder) {
  for (const StoredTensor& tensor : folder.tensors()) {
    const SafetensorsDtype& dtype = *tensor.entry->dtype;
    if (!dtype.type || !dtype.type->isFloat() || !dtype.type->format().isNarrow())
      continue;
    for (const char* ending : {"_scale", "_scale_inv", "_scales"})
      if (folder.find(tensor.name() + ending))
        return &tensor;
  }
  return nullptr;
}

/// Why the tensors have the native layout although the configuration names `configured`: they have
/// dtypes that only native uses, and no layer fits `configured`. nullopt if they do not.
static std::optional<std::string> nativeInstead(const Folder& folder, const Layout& configured) {
  const bool hasOwnDtypes = std::ranges::any_of(
      folder.tensors(), [](const StoredTensor& tensor) { return tensor.entry->dtype->bits < 8; });
  if (!hasOwnDtypes || &configured == &nativeLayout() ||
      countExactLayers(folder, configured.spellings()) > 0)
    return std::nullopt;
  return nativeLayout().detectByTensors(folder);
}

DetectedLayout detectLayout(const Folder& folder, Findings& findings) {
  std::vector<DetectedLayout> configured, stored;
  // Headers of the files take precedence over config.json.
  for (const Layout* layout : {&comfyLayout(), &torchAoLayout()})
    if (auto reason = layout->detectByConfiguration(folder))
      return {layout, *std::move(reason)};
  for (const Layout* layout : layouts())
    if (auto reason = layout->detectByConfiguration(folder))
      configured.push_back({layout, *std::move(reason)});

  const auto names = [](std::span<const DetectedLayout> list) {
    std::vector<std::string_view> result;
    for (const DetectedLayout& entry : list)
      result.push_back(entry.layout->name());
    return fmt::format("{}", fmt::join(result, ", "));
  };
  if (!configured.empty()) {
    if (auto reason = nativeInstead(folder, *configured.front().layout)) {
      findings.push_back(finding("configuration-mismatch", "config.json", "",
                                 fmt::format("{}; the tensors are those of layout native: {}",
                                             configured.front().reason, *reason)));
      return {&nativeLayout(), fmt::format("{}, whatever config.json says", *reason)};
    }
    if (configured.size() > 1)
      findings.push_back(finding("ambiguous-layout", "config.json", "",
                                 fmt::format("config.json and hf_quant_config.json name {}; read "
                                             "as {}",
                                             names(configured), configured[0].layout->name())));
    return configured.front();
  }
  const Json& block = folder.quantizationConfig();
  std::string unknown;
  bool isNamed = false;
  if (!block.is_null()) {
    const auto method = block.find("quant_method");
    isNamed = method != block.end() && !method->is_null();
    unknown = method == block.end() ? "quantization_config has no quant_method"
              : method->is_string()
                  ? fmt::format("quant_method is {}", inQuotes(method->get<std::string>()))
                  : fmt::format("quant_method is {}, not a string",
                                method->is_structured() ? method->type_name() : method->dump());
    findings.push_back(finding("unsupported-layout", "config.json", "", unknown));
  }
  for (const Layout* layout : layouts())
    if (auto reason = layout->detectByTensors(folder))
      stored.push_back({layout, *std::move(reason)});
  // ComfyUI shares names with other layouts but orders elements and scales differently. If each
  // grid of scales fills its tiles, names, dtypes and shapes fit both.
  if (const auto comfy = std::ranges::find(stored, &comfyLayout(), &DetectedLayout::layout);
      comfy != stored.begin() && comfy != stored.end()) {
    DetectedLayout& tied = stored.front();
    tied.isForeign = true;
    tied.rival = &comfyLayout();
    tied.reason = fmt::format("{}, which are as well those of {}, with other values", tied.reason,
                              comfyLayout().name());
    findings.push_back(
        finding("ambiguous-format", folder.shardNames().front(), "",
                fmt::format("nothing says whether the layout is {} or {}: --from names it",
                            tied.layout->name(), comfyLayout().name())));
    return tied;
  }
  // plain, the last layout, always fits and is no rival of the others.
  if (stored.size() > 2)
    findings.push_back(
        finding("ambiguous-layout", "", "",
                fmt::format("no configuration says which; the tensors fit {}; read as {}",
                            names(std::span(stored).first(stored.size() - 1)),
                            stored.front().layout->name())));
  DetectedLayout& found = stored.front();
  const bool isPlain = found.layout == layouts().back();
  if (isNamed && !isPlain) {
    found.isForeign = true;
    found.reason = fmt::format("config.json: {}, which octavo does not read; {} are as layout {} "
                               "has them",
                               unknown, found.reason, found.layout->name());
  }
  if (!isPlain)
    return found;
  const std::vector<ForeignCodes> foreign = findForeignCodes(folder);
  const std::string whose =
      foreign.empty()
          ? ""
          : fmt::format(
                "{} is {} [{}]{}", inQuotes(foreign.front().tensor.name()),
                foreign.front().tensor.entry->dtype->name,
                fmt::join(foreign.front().tensor.entry->shape, ", "),
                foreign.front().producer.empty() ? "" : ", codes of " + foreign.front().producer);
  found.producer = foreign.empty() ? "" : foreign.front().producer;
  if (!unknown.empty()) {
    found.isForeign = true;
    found.reason = fmt::format("config.json: {}, which octavo does not read; {}", unknown,
                               whose.empty() ? "the tensors fit no layout"
                                             : whose + ", and the tensors fit no layout");
  } else if (const StoredTensor* scaled = scaledCodes(folder)) {
    found.isForeign = true;
    found.reason = fmt::format("config.json does not mention quantization, but {} is {} with "
                               "scales, and the tensors fit no layout exactly",
                               inQuotes(scaled->name()), scaled->entry->dtype->name);
    findings.push_back(finding("unsupported-layout", scaled->shard->name(), scaled->name(),
                               fmt::format("{} codes beside scales: the tensors fit no layout "
                                           "exactly, and no configuration names one",
                                           scaled->entry->dtype->name)));
  } else if (!foreign.empty()) {
    found.isForeign = true;
    found.reason =
        fmt::format("config.json does not mention quantization, but {}, and the tensors fit no "
                    "layout",
                    whose);
  }
  return found;
}

/// The error if two layouts read the same bytes as different values.
static Error tiedLayouts(const Folder& folder, const DetectedLayout& detected) {
  const std::string_view first = detected.layout->name(), second = detected.rival->name();
  return {.file = folder.path().string(),
          .problem = "has bytes that two layouts read as different values, and nothing says which "
                     "of them it has",
          .expected = "a configuration, or what ComfyUI writes into the header "
                      "(_quantization_metadata)",
          .found = fmt::format("{} or {}", first, second),
          .fix = fmt::format("say which one it is, with --from {} or --from {} (layout= in Python)",
                             first, second)};
}

/// "fp8 (quant_method fp8, fbgemm_fp8), deepseek (...), ...".
static std::string knownMethods() {
  std::vector<std::string> known;
  for (const Layout* layout : layouts())
    if (const auto methods = layout->quantMethods(); !methods.empty())
      known.push_back(
          fmt::format("{} (quant_method {})", layout->name(), fmt::join(methods, ", ")));
  return fmt::format("{}", fmt::join(known, ", "));
}

DetectedLayout layoutOf(const Folder& folder, const Layout* named, Findings& findings) {
  return named ? DetectedLayout{named, "named by the caller"} : detectLayout(folder, findings);
}

Error foreignLayout(const Folder& folder, const DetectedLayout& detected) {
  if (detected.rival)
    return tiedLayouts(folder, detected);
  return {.file = folder.path().string(),
          .problem = "is quantized in a way that octavo cannot read",
          .expected = "one of the layouts " + knownMethods(),
          .found = detected.reason,
          .fix = detected.producer.empty()
                     ? "--from LAYOUT (layout= in Python) reads it as one of them; or convert it "
                       "with the tool that wrote it; if its weights are plain, remove "
                       "quantization_config from config.json"
                     : fmt::format("convert it with the tool that wrote it ({}); if it is one of "
                                   "the layouts all the same, --from LAYOUT (layout= in Python) "
                                   "reads it so",
                                   detected.producer)};
}

tl::expected<void, Error> refuseCodesAlone(const Folder& folder, const Layout& layout,
                                           const Inventory& inventory) {
  if (!inventory.layers.empty() || !saysQuantized(folder))
    return {};
  for (const StoredTensor& tensor : inventory.plain) {
    const SafetensorsEntry& entry = *tensor.entry;
    const bool isWide = entry.dtype->bits > 8 && entry.dtype->type && entry.dtype->type->isFloat();
    const bool isIndex = entry.dtype->name == "I64" || entry.dtype->name == "BOOL";
    if (entry.shape.size() >= 2 && !isWide && !isIndex)
      return tl::unexpected(Error{
          .file = folder.path().string(),
          .problem = fmt::format(
              "has no quantized layers in layout {}, but says that it is quantized", layout.name()),
          .tensor = tensor.name(),
          .found = fmt::format("{} [{}], which would be left as it is", entry.dtype->name,
                               fmt::join(entry.shape, ", ")),
          .fix = "leave out --from (layout= in Python), or dequantize it with the tool that "
                 "wrote it; if it is plain, remove quantization_config from config.json"});
  }
  return {};
}

} // namespace octavo::checkpoint
