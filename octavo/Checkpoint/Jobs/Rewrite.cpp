#include "octavo/Checkpoint/Jobs/Rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace octavo::checkpoint {

void ShardBuilder::replace(const StoredTensor& tensor, std::unique_ptr<Step> step) {
  drop(tensor);
  add(tensor, std::move(step));
}

void ShardBuilder::add(const StoredTensor& tensor, std::unique_ptr<Step> step) {
  places[tensor.entry].push_back(std::move(step));
}

void ShardBuilder::drop(const StoredTensor& tensor) { places[tensor.entry].clear(); }

tl::expected<Job, Error> ShardBuilder::build(Json options) {
  Job job{.source = &folder,
          .options = std::move(options),
          .shards = {},
          .config = folder.config(),
          .quantConfig = folder.quantConfig()};
  std::map<std::string, const SafetensorsEntry*, std::less<>> madeFrom; // by the output's name
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
  return job;
}

tl::expected<void, Error> refuseUnread(const Folder& folder, const Inventory& inventory) {
  if (inventory.unread.empty())
    return {};
  const std::size_t count = inventory.unread.size();
  const Unread& first = inventory.unread.front();
  return tl::unexpected(
      Error{.file = folder.path().string(),
            .problem = "has parts that octavo cannot read or does not apply, without which the "
                       "rest is a different model",
            .found = fmt::format("{}: {}{}", first.name, first.why,
                                 count > 1 ? fmt::format("; and {} more", count - 1) : ""),
            .fix = first.fix + "; `octavo checkpoint lint` lists them all"});
}

tl::expected<void, Error> refuseDoubts(const Inventory& inventory, Doubts allowed) {
  for (const Doubtful& each : inventory.doubts)
    if (!allowed.has(each.doubt))
      return tl::unexpected(
          doubtError(each.doubt, each.file, each.tensor, each.expected, each.found));
  return {};
}

void dropScales(ShardBuilder& shards, const Layer& layer) {
  for (const std::optional<Part>* part : {&layer.scales, &layer.outer, &layer.inputScale})
    if (*part)
      shards.drop((*part)->tensor);
  for (const StoredTensor& tensor : layer.idle)
    shards.drop(tensor);
}

void dropRepeated(ShardBuilder& shards, const Inventory& inventory) {
  for (const KvScales& kv : inventory.kvScales)
    for (const Part& part : kv.repeated)
      shards.drop(part.tensor);
}

} // namespace octavo::checkpoint
