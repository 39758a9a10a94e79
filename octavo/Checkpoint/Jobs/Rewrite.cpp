#include "octavo/Checkpoint/Jobs/Rewrite.h"

#include <fmt/format.h>

namespace octavo::checkpoint {

void ShardBuilder::replace(const StoredTensor& tensor, std::unique_ptr<Step> step) {
  places[tensor.entry] = std::move(step);
}

void ShardBuilder::drop(const StoredTensor& tensor) { places[tensor.entry] = nullptr; }

std::vector<PlannedShard> ShardBuilder::build() {
  std::vector<PlannedShard> shards;
  for (std::size_t i = 0; i < folder.shardNames().size(); ++i) {
    const SafetensorsFile& file = folder.shard(i);
    PlannedShard shard{folder.shardNames()[i], {}, file.metadata()};
    for (const SafetensorsEntry& entry : file.entries()) {
      const auto place = places.find(&entry);
      if (place == places.end())
        shard.steps.push_back(copyStep({&file, &entry}));
      else if (place->second)
        shard.steps.push_back(std::move(place->second));
    }
    if (!shard.steps.empty() || file.entries().empty())
      shards.push_back(std::move(shard));
  }
  return shards;
}

tl::expected<void, Error> refuseUnread(const Folder& folder, const Inventory& inventory) {
  if (inventory.unread.empty())
    return {};
  const std::size_t count = inventory.unread.size();
  const Unread& first = inventory.unread.front();
  return tl::unexpected(
      Error{.file = folder.path().string(),
            .problem = "has parts that octavo cannot read or does not apply, without which the "
                       "rest is another model's",
            .found = fmt::format("{}: {}{}", first.name, first.why,
                                 count > 1 ? fmt::format("; and {} more", count - 1) : ""),
            .fix = "convert it with the tool that wrote it; `octavo checkpoint lint` names all"});
}

void dropScales(ShardBuilder& shards, const Layer& layer) {
  for (const std::optional<Part>* part : {&layer.scales, &layer.outer, &layer.inputScale})
    if (*part)
      shards.drop((*part)->tensor);
  for (const StoredTensor& tensor : layer.idle)
    shards.drop(tensor);
}

} // namespace octavo::checkpoint
