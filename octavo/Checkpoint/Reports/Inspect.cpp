#include "octavo/Checkpoint/Reports/Inspect.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Checkpoint/Lint/LintSubject.h"
#include "octavo/Checkpoint/ModuleNames/AttentionModules.h"
#include "octavo/Checkpoint/WeightList.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace octavo::checkpoint {

namespace {

std::vector<NamedPart> partsOf(const Layer& layer) {
  std::vector<NamedPart> parts = scalesOf(layer);
  parts.insert(parts.begin(), {"elements", &layer.elements});
  return parts;
}

std::vector<NamedPart> partsOf(const KvScales& kv) {
  std::vector<NamedPart> parts = scalesOf(kv);
  for (const Part& part : kv.repeated)
    parts.push_back({"the same value again", &part});
  for (const Part& part : kv.rivals)
    parts.push_back({"a different value for one above", &part});
  return parts;
}

std::uint64_t bytesOf(const std::optional<Part>& part) { return part ? part->tensor.size() : 0; }

double bits(std::uint64_t bytes, std::uint64_t weights) {
  return weights == 0 ? 0 : 8 * static_cast<double>(bytes) / static_cast<double>(weights);
}

/// "weight_scale" of "model.layers.0.mlp.up_proj.weight_scale".
std::string_view lastComponent(std::string_view name, std::string_view module) {
  return name.starts_with(module) && name.size() > module.size() && name[module.size()] == '.'
             ? name.substr(module.size() + 1)
             : name;
}

std::string readingOf(const Layer& layer) {
  std::string text = "value = code";
  for (const std::optional<Part>* part : {&layer.scales, &layer.outer})
    if (*part)
      text += fmt::format(" {} {}", (*part)->meaning == Meaning::Multiplies ? '*' : '/',
                          lastComponent((*part)->tensor.name(), layer.name));
  return text;
}

TensorInspection tensorInspection(const StoredTensor& tensor, std::string_view role) {
  return {.name = tensor.name(),
          .file = tensor.shard->name(),
          .dtype = tensor.entry->dtype->name,
          .shape = tensor.entry->shape,
          .bytes = tensor.size(),
          .role = std::string(role)};
}

/// Inspects a part, with a census of its scales.
tl::expected<TensorInspection, Error> scaleInspection(const NamedPart& part) {
  TensorInspection tensor = tensorInspection(part.part->tensor, part.role);
  return takeScaleCensus(*part.part, &tensor.histogram).map([&](const ScaleCensus& scales) {
    tensor.scales = scales;
    return std::move(tensor);
  });
}

tl::expected<NameInspection, Error> layerInspection(const Layer& layer,
                                                    const kernels::Execution& execution) {
  Inventory one;
  one.layers.push_back(layer);
  std::vector<Error> unread;
  const std::vector<LayerCensus> censuses = takeLayerCensuses(one, execution, unread);
  if (!unread.empty())
    return tl::unexpected(std::move(unread.front()));
  NameInspection inspection = {.layer = layer.name,
                               .format = formatName(layer),
                               .shape = layer.shape,
                               .block = layer.type.block,
                               .reading = readingOf(layer),
                               .largestWeight = censuses.front().largestWeight()};
  for (const NamedPart& part : partsOf(layer)) {
    if (part.part == &layer.elements) {
      inspection.tensors.push_back(tensorInspection(part.part->tensor, part.role));
      inspection.tensors.back().codes = censuses.front().codes;
      continue;
    }
    auto scales = scaleInspection(part);
    if (!scales)
      return tl::unexpected(std::move(scales.error()));
    inspection.tensors.push_back(std::move(*scales));
  }
  return inspection;
}

tl::expected<NameInspection, Error> kvInspection(const KvScales& kv) {
  NameInspection inspection = {.layer = kv.module};
  for (const NamedPart& part : partsOf(kv)) {
    auto scales = scaleInspection(part);
    if (!scales)
      return tl::unexpected(std::move(scales.error()));
    inspection.tensors.push_back(std::move(*scales));
  }
  return inspection;
}

bool hasName(const std::vector<NamedPart>& parts, std::string_view name) {
  return std::ranges::any_of(
      parts, [&](const NamedPart& part) { return part.part->tensor.name() == name; });
}

} // namespace

double FormatUse::bitsPerWeight() const { return bits(codeBytes + scaleBytes, weights); }
double Inspection::bitsPerWeight() const { return bits(bytes - unreadBytes, weights); }

tl::expected<Inspection, Error> inspect(const Folder& folder, const Layout* layout,
                                        const kernels::Execution& execution) {
  Inspection result;
  const DetectedLayout detected = layoutOf(folder, layout, result.findings);
  const Inventory inventory = detected.layout->read(folder, result.findings);
  result.layout = detected.layout->name();
  result.reason = detected.reason;
  result.quantizer = inventory.quantizer;
  result.shards = folder.shardNames().size();
  result.tensors = folder.tensors().size();
  for (const StoredTensor& tensor : folder.tensors())
    result.bytes += tensor.size();

  // Takes a census of each layer's scales on all threads, then sums in the order of the layers.
  const std::vector<Layer>& layers = inventory.layers;
  std::vector<FormatUse> uses(layers.size());
  std::vector<std::optional<Error>> errors(layers.size());
  kernels::forRanges(layers.size(), 1, execution, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (layers[i].scales) {
        if (auto census = takeScaleCensus(*layers[i].scales, &uses[i].histogram))
          uses[i].scales = *census;
        else
          errors[i] = std::move(census.error());
      }
  });
  for (std::optional<Error>& error : errors)
    if (error)
      return tl::unexpected(std::move(*error));
  std::map<std::pair<std::string, std::string>, FormatUse> formats;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    FormatUse& use = formats[{formatName(layer), activationsText(layer.activations)}];
    use.format = formatName(layer);
    use.activations = activationsText(layer.activations);
    ++use.layers;
    use.weights += static_cast<std::uint64_t>(numerics::elementCount(layer.shape));
    use.codeBytes += layer.elements.tensor.size();
    use.scaleBytes += bytesOf(layer.scales) + bytesOf(layer.outer);
    use.scales += uses[i].scales;
    use.histogram += uses[i].histogram;
  }
  for (auto& [key, use] : formats) {
    result.weights += use.weights;
    result.formats.push_back(std::move(use));
  }
  std::set<const SafetensorsEntry*> foreign;
  for (const ForeignCodes& codes : inventory.foreign) {
    foreign.insert(codes.tensor.entry);
    result.unreadBytes += codes.tensor.size();
    result.producer = codes.producer;
  }
  std::map<std::string_view, PlainUse> plain;
  for (const StoredTensor& tensor : inventory.plain) {
    PlainUse& use = plain[tensor.entry->dtype->name];
    use.dtype = tensor.entry->dtype->name;
    ++use.tensors;
    use.elements += static_cast<std::uint64_t>(numerics::elementCount(tensor.entry->shape));
    use.bytes += tensor.size();
  }
  for (const auto& [dtype, use] : plain) {
    result.plain.push_back(use);
  }
  for (const StoredTensor& tensor : inventory.plain)
    if (!foreign.contains(tensor.entry))
      result.weights += static_cast<std::uint64_t>(numerics::elementCount(tensor.entry->shape));
  result.kv = {.format = inventory.kvCacheFormat,
               .attentionModules = attentionModules(folder).size()};
  for (const KvScales& kv : inventory.kvScales) {
    result.kv.withKey += kv.key.has_value();
    result.kv.withValue += kv.value.has_value();
  }
  return result;
}

tl::expected<NameInspection, Error> inspectName(const Folder& folder, std::string_view name,
                                                const Layout* layout,
                                                const kernels::Execution& execution) {
  Findings findings;
  const Inventory inventory = layoutOf(folder, layout, findings).layout->read(folder, findings);
  std::vector<std::string> known;
  for (const Layer& layer : inventory.layers) {
    if (name == layer.name || name == layer.name + "." + layer.parameter ||
        hasName(partsOf(layer), name))
      return layerInspection(layer, execution);
    known.push_back(layer.name);
  }
  for (const KvScales& kv : inventory.kvScales) {
    if (name == kv.module || hasName(partsOf(kv), name))
      return kvInspection(kv);
    known.push_back(kv.module);
  }
  if (const StoredTensor* tensor = folder.find(name)) {
    NameInspection inspection;
    inspection.tensors.push_back(tensorInspection(*tensor, "plain"));
    const auto amax = plainAmax(*tensor);
    if (!amax)
      return tl::unexpected(amax.error());
    inspection.tensors.back().amax = *amax;
    return inspection;
  }
  for (const StoredTensor& tensor : folder.tensors())
    known.push_back(tensor.name());
  const std::vector<std::string> near = base::nearNames(std::string(name), known);
  return tl::unexpected(Error{.file = folder.path().string(),
                              .problem = "has no tensor or layer of that name",
                              .tensor = std::string(name),
                              .fix = near.empty()
                                         ? "`octavo checkpoint inspect --tensors` lists them"
                                         : fmt::format("did you mean {}?", fmt::join(near, ", "))});
}

} // namespace octavo::checkpoint
