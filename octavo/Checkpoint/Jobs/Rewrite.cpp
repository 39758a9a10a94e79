#include "octavo/Checkpoint/Jobs/Rewrite.h"

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

void dropScales(ShardBuilder& shards, const Layer& layer) {
  for (const std::optional<Part>* part : {&layer.scales, &layer.outer, &layer.inputScale})
    if (*part)
      shards.drop((*part)->tensor);
}

} // namespace octavo::checkpoint
