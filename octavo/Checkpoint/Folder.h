// A checkpoint on disk: a folder of safetensors shards with its index and configuration, or one
// safetensors file. Names, shapes and places are read and checked; tensors' bytes stay mapped.
#pragma once

#include "octavo/Checkpoint/Finding.h"
#include "octavo/Checkpoint/Safetensors.h"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// Keeps the order of keys, so that a rewritten file differs only where it must.
using Json = nlohmann::ordered_json;

/// A tensor of the checkpoint and the shard that holds it. Both pointers live as long as the Folder.
struct StoredTensor {
  const SafetensorsFile* shard;
  const SafetensorsEntry* entry;

  const std::string& name() const { return entry->name; }
  std::span<const std::byte> bytes() const { return shard->bytes(*entry); }
};

class Folder {
public:
  /// Opens a folder or a single file. Refused: an index that names a path outside the folder (or a
  /// link that leads there), shards that are missing or damaged, a tensor in another shard than the
  /// index says or in two, JSON that is none or has a key twice, PyTorch pickles (with a sentence
  /// how to convert them).
  static tl::expected<Folder, Error> open(const std::filesystem::path& path);

  /// Opens what can be opened and reports the rest: for lint. An Error only if nothing is there.
  static tl::expected<Folder, Error> openDamaged(const std::filesystem::path& path,
                                                 Findings& findings);

  const std::filesystem::path& path() const { return root; }
  bool isSingleFile() const { return singleFile; }

  /// In the order of shards, then of bytes.
  std::span<const StoredTensor> tensors() const { return stored; }
  const StoredTensor* find(std::string_view name) const;
  /// The shards' file names relative to path(), in order.
  std::span<const std::string> shardNames() const { return shards; }
  const SafetensorsFile& shard(std::size_t i) const { return files[i]; }
  bool hasIndex() const { return indexed; }
  /// `metadata` of the index, as read.
  const Json& indexMetadata() const { return indexStrings; }

  /// config.json and hf_quant_config.json; null where there is none.
  const Json& config() const { return configuration; }
  const Json& quantConfig() const { return modelOptConfiguration; }
  /// `quantization_config` of config.json (also at text_config.quantization_config or
  /// compression_config); null where there is none.
  const Json& quantizationConfig() const;

  /// The other regular files (tokenizer, generation_config.json, ...), relative to path(): what a
  /// converted checkpoint takes along as it is.
  std::span<const std::string> companions() const { return others; }

private:
  std::filesystem::path root;
  bool singleFile = false, indexed = false;
  std::vector<std::string> shards, others;
  std::vector<SafetensorsFile> files;
  std::vector<StoredTensor> stored;
  std::map<std::string, std::size_t, std::less<>> byName;
  Json indexStrings, configuration, modelOptConfiguration;
};

} // namespace octavo::checkpoint
