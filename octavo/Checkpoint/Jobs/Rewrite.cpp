#include "octavo/Checkpoint/Jobs/Rewrite.h"

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/LeakedState.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace octavo::checkpoint {

tl::expected<void, Error> RewritePlanner::read(const Layout& layout, Doubts allowed,
                                               UnreadParts parts) {
  rewrite.inventory = std::make_unique<Inventory>(layout.read(folder, rewrite.notes));
  const std::vector<Unread>& unread = inventory().unread;
  // Foreign codes of no known producer and no layer: more likely the layout is wrong.
  const bool isOfNobody = !inventory().foreign.empty() &&
                          std::ranges::all_of(inventory().foreign, [](const ForeignCodes& codes) {
                            return codes.producer.empty();
                          });
  if (parts == UnreadParts::Refused && isOfNobody)
    if (auto alone = refuseCodesAlone(folder, layout, inventory()); !alone)
      return alone;
  if (parts == UnreadParts::Refused && !unread.empty())
    return tl::unexpected(Error{
        .file = folder.path().string(),
        .problem = "has parts that octavo cannot read or does not apply, without which the rest is "
                   "a different model",
        .found =
            fmt::format("{}: {}{}", unread.front().name, unread.front().why,
                        unread.size() > 1 ? fmt::format("; and {} more", unread.size() - 1) : ""),
        .fix = unread.front().fix + "; `octavo checkpoint lint` lists them all"});
  for (const Doubtful& each : inventory().doubts)
    if (!allowed.has(each.doubt))
      return tl::unexpected(
          doubtError(each.doubt, each.file, each.tensor, each.expected, each.found));
  return {};
}

tl::expected<void, Error> RewritePlanner::forLayers(
    const std::function<tl::expected<void, Error>(const LayerReader&)>& place) const {
  for (const Layer& layer : rewrite.inventory->layers)
    if (auto placed = LayerReader::open(layer).and_then(place); !placed)
      return placed;
  return {};
}

LayerChange& RewritePlanner::replace(const StoredTensor& weight, LayerChange change,
                                     std::unique_ptr<Step> step) {
  change.bytesAfter = step->bytes();
  replace(weight, std::move(step));
  return rewrite.changes.emplace_back(std::move(change));
}

LayerChange& RewritePlanner::replace(const Layer& layer, std::string_view to,
                                     std::unique_ptr<Step> step) {
  for (const auto& [role, part] : scalesOf(layer))
    drop(part->tensor);
  return replace(layer.elements.tensor,
                 {.name = plainName(layer),
                  .from = std::string(layer.format ? layer.format->name : layer.type.element->name),
                  .to = std::string(to),
                  .elements = static_cast<std::uint64_t>(numerics::elementCount(layer.shape)),
                  .bytesBefore = bytesOf(layer)},
                 std::move(step));
}

void RewritePlanner::replace(const StoredTensor& tensor, std::unique_ptr<Step> step) {
  drop(tensor);
  add(tensor, std::move(step));
}

void RewritePlanner::add(const StoredTensor& tensor, std::unique_ptr<Step> step) {
  places[tensor.entry].push_back(std::move(step));
}

void RewritePlanner::drop(const StoredTensor& tensor) { places[tensor.entry].clear(); }

void RewritePlanner::dropIdle() {
  for (const Layer& layer : inventory().layers)
    for (const StoredTensor& tensor : layer.idle)
      drop(tensor);
  for (const KvScales& kv : inventory().kvScales)
    for (const Part& part : kv.repeated)
      drop(part.tensor);
}

void RewritePlanner::dropLeakedState() {
  const std::vector<StoredTensor> leaked = leakedState(inventory());
  for (const StoredTensor& tensor : leaked)
    drop(tensor);
  if (!leaked.empty())
    rewrite.notes.push_back(
        finding("dropped-quantizer-state", leaked.front().shard->name(), leaked.front().name(),
                fmt::format("{} buffers of a quantizer are not in the output", leaked.size())));
}

void RewritePlanner::leave(std::string name, std::string why) {
  rewrite.left.push_back({std::move(name), std::move(why)});
}

tl::expected<Rewrite, Error> RewritePlanner::finish(Json options) {
  Job& job = rewrite.job;
  job = {.source = &folder,
         .options = std::move(options),
         .shards = {},
         .config = folder.config(),
         .quantConfig = folder.quantConfig()};
  std::map<std::string, const SafetensorsEntry*, std::less<>> madeFrom; // by output name
  for (std::size_t i = 0; i < folder.shardNames().size(); ++i) {
    const SafetensorsFile& file = folder.shard(i);
    PlannedShard shard{folder.shardNames()[i], {}, file.metadata()};
    for (const SafetensorsEntry& entry : file.entries()) {
      const std::size_t before = shard.steps.size();
      const auto place = places.find(&entry);
      if (place == places.end())
        shard.steps.push_back(copyStep({&file, &entry}));
      else
        std::ranges::move(place->second, std::back_inserter(shard.steps));
      for (std::size_t step = before; step < shard.steps.size(); ++step)
        for (const PlannedTensor& made : shard.steps[step]->outputs())
          if (const auto [first, isNew] = madeFrom.emplace(made.name, &entry); !isNew)
            return tl::unexpected(
                Error{.file = file.name(),
                      .problem = "the output would have two tensors of this name",
                      .tensor = made.name,
                      .expected = "each name once",
                      .found = fmt::format("one from {} and one from {}",
                                           inQuotes(first->second->name), inQuotes(entry.name)),
                      .fix = "rename or remove the one in the input that is not part of the layer, "
                             "or choose a --layout that names parts differently"});
    }
    if (!shard.steps.empty() || file.entries().empty())
      job.shards.push_back(std::move(shard));
  }
  return std::move(rewrite);
}

/// Whether a metadata entry describes a quantization: ComfyUI's, or torchao's list of names and
/// classes.
static bool saysQuantization(const SafetensorsMetadata::value_type& entry) {
  return entry.first == "_quantization_metadata" || entry.first == "tensor_names" ||
         entry.second.starts_with("{\"_type\"");
}

tl::expected<Rewrite, Error> RewritePlanner::finish(Json options, const Layout& layout,
                                                    const LayoutChoice& choice) {
  return finish(std::move(options)).map([&](Rewrite whole) {
    for (PlannedShard& shard : whole.job.shards)
      std::erase_if(shard.metadata, [](const auto& each) { return saysQuantization(each); });
    layout.configure(choice, whole.job.config, whole.job.quantConfig);
    return whole;
  });
}

} // namespace octavo::checkpoint
