// Checks of configuration and index against the tensors, beyond those of reading the layout.

#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Lint/LintSubject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace octavo::checkpoint {

namespace {

// The keys of compressed-tensors 0.18 (quantization/quant_scheme.py, quant_args.py), which refuses
// other keys.
constexpr auto kSchemeKeys = std::to_array<std::string_view>(
    {"targets", "weights", "input_activations", "output_activations", "format"});
constexpr auto kArgumentKeys = std::to_array<std::string_view>(
    {"num_bits", "type", "symmetric", "strategy", "group_size", "block_structure", "dynamic",
     "actorder", "scale_dtype", "zp_dtype", "observer", "observer_kwargs"});

void lintKeys(const Json& object, std::span<const std::string_view> known, std::string_view where,
              Findings& findings) {
  if (!object.is_object())
    return;
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end())
      findings.push_back(finding("unknown-configuration-key", "config.json", "",
                                 fmt::format("{} has the key {}", where, inQuotes(key))));
}

void lintCompressedTensors(const Json& config, Findings& findings) {
  if (memberAt(config, {"quant_method"}) != "compressed-tensors")
    return;
  const Json& groups = memberAt(config, {"config_groups"});
  if (groups.is_object())
    for (const auto& [name, group] : groups.items()) {
      lintKeys(group, kSchemeKeys, name, findings);
      for (const char* part : {"weights", "input_activations", "output_activations"})
        lintKeys(memberAt(group, {part}), kArgumentKeys, fmt::format("{} of {}", part, name),
                 findings);
    }
  lintKeys(memberAt(config, {"kv_cache_scheme"}), kArgumentKeys, "kv_cache_scheme", findings);
}

/// Why config.json, as read, states no quantization.
std::string withoutQuantization(const Folder& folder, const Findings& findings) {
  const Json& config = folder.config();
  if (config.is_null())
    return std::ranges::any_of(findings,
                               [](const Finding& finding) {
                                 return finding.rule == "unreadable-config" &&
                                        finding.file == "config.json";
                               })
               ? "config.json cannot be read"
               : "there is no config.json";
  const auto found = config.find("quantization_config");
  return found == config.end()
             ? "config.json has no quantization_config"
             : fmt::format("quantization_config of config.json is {}, not an object",
                           found->is_null() ? "null"
                                            : fmt::format("of type {}", found->type_name()));
}

/// metadata.total_size as an integer; some writers have it as a float or as text.
std::optional<std::uint64_t> totalSize(const Json& metadata) {
  const Json& size = memberAt(metadata, {"total_size"});
  if (size.is_number_unsigned())
    return size.get<std::uint64_t>();
  if (size.is_number_float() && size.get<double>() >= 0 && size.get<double>() < 1e18)
    return static_cast<std::uint64_t>(size.get<double>());
  return std::nullopt;
}

} // namespace

/// Reports names, shapes and rows that some tools cannot handle.
static void lintTensor(const StoredTensor& tensor, Findings& findings) {
  constexpr std::size_t kManyAxes = 32;
  const SafetensorsEntry& entry = *tensor.entry;
  const auto report = [&](RuleName rule, std::string what) {
    findings.push_back(finding(rule, tensor.shard->name(), tensor.name(), std::move(what)));
  };
  const auto unprintable = std::ranges::find_if(
      entry.name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (unprintable != entry.name.end())
    report("unprintable-name",
           fmt::format("byte {} of the name is 0x{:02x}", unprintable - entry.name.begin(),
                       static_cast<unsigned char>(*unprintable)));
  if (entry.shape.size() > kManyAxes)
    report("many-axes", fmt::format("it has {}", entry.shape.size()));
  if (!entry.shape.empty() && entry.shape.back() % 8 * entry.dtype->bits % 8 != 0)
    report("odd-packed-row",
           fmt::format("{} [{}]: rows of {} elements of {} bits", entry.dtype->name,
                       fmt::join(entry.shape, ", "), entry.shape.back(), entry.dtype->bits));
}

/// Reports foreign codes, once for each producer.
static void lintForeignCodes(const Inventory& inventory, Findings& findings) {
  std::map<std::string_view, std::vector<const StoredTensor*>> byProducer;
  for (const ForeignCodes& codes : inventory.foreign)
    byProducer[codes.producer].push_back(&codes.tensor);
  for (const auto& [producer, tensors] : byProducer) {
    const StoredTensor& first = *tensors.front();
    findings.push_back(finding(
        "foreign-codes", first.shard->name(), first.name(),
        fmt::format("codes of {}: {} [{}]{}",
                    producer.empty() ? "a producer that is not told" : producer,
                    first.entry->dtype->name, fmt::join(first.entry->shape, ", "),
                    tensors.size() > 1 ? fmt::format(", and {} tensors like it", tensors.size() - 1)
                                       : "")));
  }
}

void lintFiles(const LintSubject& subject, Findings& findings) {
  for (const StoredTensor& tensor : subject.folder.tensors())
    lintTensor(tensor, findings);
  std::uint64_t bytes = 0;
  for (const StoredTensor& tensor : subject.folder.tensors())
    bytes += tensor.size();
  const std::optional<std::uint64_t> stated = totalSize(subject.folder.indexMetadata());
  const bool isWhole = std::ranges::none_of(findings, [](const Finding& finding) {
    return finding.rule == "missing-shard" || finding.rule == "torn-shard";
  });
  if (isWhole && stated && *stated != bytes)
    findings.push_back(finding(
        "index-total-size", subject.folder.indexName(), "",
        fmt::format("metadata.total_size is {}, the tensors have {} bytes", *stated, bytes)));
}

void lintConfiguration(const LintSubject& subject, Findings& findings) {
  const Folder& folder = subject.folder;
  const bool isQuantized = !subject.inventory.layers.empty();
  // Files of layouts that octavo does not write are self-describing.
  const bool isWritten =
      std::ranges::any_of(subject.layout.spellings(), [](const LayerSpelling& spelling) {
        return spelling.access == Access::ReadAndWrite;
      });
  if (isQuantized && isWritten && !folder.isSingleFile() && !saysQuantized(folder))
    findings.push_back(
        finding("no-configuration", folder.config().is_null() ? "" : "config.json", "",
                fmt::format("{} layers are quantized ({}), and {}", subject.inventory.layers.size(),
                            subject.layout.name(), withoutQuantization(folder, findings))));
  lintForeignCodes(subject.inventory, findings);
  for (const Doubtful& each : subject.inventory.doubts)
    if (each.doubt == Doubt::UnscaledCodes &&
        std::ranges::none_of(findings, [&](const Finding& other) {
          return other.rule == "unscaled-codes" && other.tensor == each.tensor;
        }))
      findings.push_back(finding("unscaled-codes", each.file, each.tensor, each.found));
  // Foreign codes are the model's weights: another configuration would not help them.
  if (!isQuantized && saysQuantized(folder) && !folder.tensors().empty() &&
      subject.inventory.foreign.empty())
    findings.push_back(finding("nothing-quantized", "config.json", "",
                               "the configuration says that the model is quantized, but no tensor "
                               "is the weight of a quantized layer"));
  lintCompressedTensors(folder.quantizationConfig(), findings);
}

} // namespace octavo::checkpoint
