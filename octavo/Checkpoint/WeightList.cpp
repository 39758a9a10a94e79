#include "octavo/Checkpoint/WeightList.h"

#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/TensorChunks.h"
#include "octavo/Kernels/Amax.h"

#include <algorithm>
#include <cmath>

namespace octavo::checkpoint {

namespace {

bool haveSameKind(const StoredTensor& a, const StoredTensor& b) {
  return a.entry->dtype == b.entry->dtype && a.entry->shape == b.entry->shape;
}

bool haveSameKind(const std::optional<Part>& a, const std::optional<Part>& b) {
  if (!a || !b)
    return a.has_value() == b.has_value();
  return a->meaning == b->meaning && haveSameKind(a->tensor, b->tensor);
}

/// Stacked experts have several parameters, each with an input of its own.
std::string inputScaleName(const Layer& layer) {
  return layer.name +
         (layer.parameter == "weight" ? ".input_scale" : "." + layer.parameter + "_input_scale");
}

} // namespace

std::string NamedWeight::kind() const {
  if (layer)
    return formatName(*layer);
  return std::string((plain ? plain : &scale->tensor)->entry->dtype->name);
}

const std::vector<std::int64_t>& NamedWeight::shape() const {
  return layer ? layer->shape : (plain ? plain : &scale->tensor)->entry->shape;
}

WeightList::WeightList(const Folder& folder, Findings& findings, const Layout* layout)
    : detected(layoutOf(folder, layout, findings)),
      contents(detected.layout->read(folder, findings)) {
  for (const Layer& layer : contents.layers) {
    list.push_back({.name = plainName(layer), .layer = &layer});
    if (layer.inputScale)
      list.push_back(
          {.name = inputScaleName(layer), .scale = &*layer.inputScale, .inputOf = &layer});
  }
  for (const StoredTensor& tensor : contents.plain)
    list.push_back({.name = tensor.name(), .plain = &tensor});
  for (const KvScales& kv : contents.kvScales) {
    const auto add = [&](std::string_view name, const std::optional<Part>& part) {
      if (part)
        list.push_back({.name = kv.module + "." + std::string(name), .scale = &*part});
    };
    add("k_scale", kv.key);
    add("v_scale", kv.value);
    add("q_scale", kv.query);
    add("prob_output_scale", kv.probability);
  }
  std::ranges::sort(list, {}, &NamedWeight::name);
}

const NamedWeight* WeightList::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      list, name, {}, [](const NamedWeight& weight) { return std::string_view(weight.name); });
  return found != list.end() && found->name == name ? &*found : nullptr;
}

tl::expected<WeightRows, Error> WeightRows::open(const NamedWeight& weight, PlainAxes axes) {
  WeightRows result;
  if (weight.layer) {
    const auto reader = LayerReader::open(*weight.layer);
    if (!reader)
      return tl::unexpected(reader.error());
    result.values = layerRows(*reader);
    return result;
  }
  const StoredTensor& tensor = weight.plain ? *weight.plain : weight.scale->tensor;
  if (!wideType(*tensor.entry->dtype))
    return tl::unexpected(Error{.file = tensor.shard->name(),
                                .problem = "has no values that can be compared",
                                .tensor = tensor.name(),
                                .expected = "F32, BF16 or F16",
                                .found = std::string(tensor.entry->dtype->name)});
  const std::size_t rank = tensor.entry->shape.size();
  if (rank == 2 || rank == 3) {
    result.values = plainRows(tensor, axes);
    return result;
  }
  result.flat = std::make_unique<SafetensorsEntry>(*tensor.entry);
  result.flat->shape = {1, numerics::elementCount(tensor.entry->shape)};
  result.values = plainRows({tensor.shard, result.flat.get()});
  return result;
}

bool haveSameParts(const NamedWeight& a, const NamedWeight& b) {
  if (a.layer && b.layer)
    return a.layer->type == b.layer->type && a.layer->shape == b.layer->shape &&
           a.layer->storedAxes == b.layer->storedAxes &&
           haveSameKind(a.layer->elements, b.layer->elements) &&
           haveSameKind(a.layer->scales, b.layer->scales) &&
           haveSameKind(a.layer->outer, b.layer->outer);
  if (a.plain && b.plain)
    return haveSameKind(*a.plain, *b.plain);
  return a.scale && b.scale && haveSameKind(*a.scale, *b.scale);
}

std::vector<StoredTensor> tensorsOf(const NamedWeight& weight) {
  if (!weight.layer)
    return {weight.plain ? *weight.plain : weight.scale->tensor};
  std::vector<StoredTensor> tensors = {weight.layer->elements.tensor};
  for (const std::optional<Part>* part : {&weight.layer->scales, &weight.layer->outer})
    if (*part)
      tensors.push_back((*part)->tensor);
  return tensors;
}

std::uint64_t bytesOf(const NamedWeight& weight) {
  if (weight.layer)
    return weight.layer->elements.tensor.size();
  return (weight.plain ? weight.plain : &weight.scale->tensor)->size();
}

tl::expected<std::optional<float>, Error> plainAmax(const StoredTensor& tensor) {
  if (!wideType(*tensor.entry->dtype))
    return std::nullopt;
  const auto rows = WeightRows::open({.name = tensor.name(), .plain = &tensor});
  if (!rows)
    return tl::unexpected(rows.error());
  float amax = 0;
  Scratch scratch;
  for (const Piece& piece : piecesOf(rows->rows())) {
    const auto part = rows->rows().amax(piece, scratch);
    if (!part)
      return tl::unexpected(part.error());
    if (std::isnan(*part))
      return *part;
    amax = std::max(amax, *part);
  }
  return amax;
}

} // namespace octavo::checkpoint
