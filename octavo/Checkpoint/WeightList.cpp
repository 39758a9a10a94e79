#include "octavo/Checkpoint/WeightList.h"

#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/TensorChunks.h"
#include "octavo/Kernels/Amax.h"

#include <algorithm>
#include <cmath>

namespace octavo::checkpoint {

namespace {

using Answer = tl::expected<bool, Error>;

Answer areIdentical(const StoredTensor& a, const StoredTensor& b) {
  if (a.entry->dtype != b.entry->dtype || a.entry->shape != b.entry->shape)
    return false;
  bool areEqual = true;
  std::vector<std::byte> other;
  std::optional<Error> failed;
  const auto compare = [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    other.resize(bytes.size());
    if (auto fetched = b.fetch(offset, other); !fetched)
      failed = std::move(fetched.error());
    areEqual = !failed && std::ranges::equal(bytes, other);
    return areEqual;
  };
  if (auto read = forChunks(a, compare); !read)
    return tl::unexpected(std::move(read.error()));
  return failed ? Answer(tl::unexpected(std::move(*failed))) : Answer(areEqual);
}

Answer areIdentical(const std::optional<Part>& a, const std::optional<Part>& b) {
  if (!a || !b)
    return a.has_value() == b.has_value();
  return a->meaning == b->meaning ? areIdentical(a->tensor, b->tensor) : Answer(false);
}

/// Experts that are stacked have several parameters, each with an input of its own.
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

WeightList::WeightList(const Folder& folder, Findings& findings)
    : detected(detectLayout(folder, findings)), contents(detected.layout->read(folder, findings)) {
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

Answer areIdentical(const NamedWeight& a, const NamedWeight& b) {
  if (a.layer && b.layer) {
    if (a.layer->type != b.layer->type || a.layer->shape != b.layer->shape ||
        a.layer->storedAxes != b.layer->storedAxes)
      return false;
    Answer answer = areIdentical(a.layer->elements, b.layer->elements);
    for (std::optional<Part> Layer::* part : {&Layer::scales, &Layer::outer})
      if (answer && *answer)
        answer = areIdentical(a.layer->*part, b.layer->*part);
    return answer;
  }
  if (a.plain && b.plain)
    return areIdentical(*a.plain, *b.plain);
  if (!a.scale || !b.scale || a.scale->meaning != b.scale->meaning)
    return false;
  return areIdentical(a.scale->tensor, b.scale->tensor);
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
