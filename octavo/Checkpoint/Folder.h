// A checkpoint on disk: a folder of safetensors shards with index and configuration, or one
// safetensors file. Opening reads and checks names, shapes and offsets; the bytes of tensors are
// read on demand.
#pragma once

#include "octavo/Checkpoint/Files/JsonFile.h"
#include "octavo/Checkpoint/Files/Safetensors.h"
#include "octavo/Checkpoint/Finding.h"

#include <tl/expected.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace octavo::checkpoint {

/// The files that describe the quantization. kQuantConfigFile is ModelOpt's.
inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kQuantConfigFile = "hf_quant_config.json";

/// Marks a folder in which an octavo job is unfinished.
inline constexpr const char* kJobFile = ".octavo-job.json";

/// Whether to open the folder of an unfinished job. Such a folder may lack shards, index and
/// configuration, and only kJobFile shows it.
enum class UnfinishedJob : std::uint8_t { Refused, Opened };

/// A tensor of the checkpoint and the shard that holds it. Both pointers are valid as long as the
/// Folder lives.
struct StoredTensor {
  const SafetensorsFile* shard;
  const SafetensorsEntry* entry;

  const std::string& name() const { return entry->name; }
  std::uint64_t size() const { return entry->size(); } ///< in bytes
  /// Copies bytes of the tensor; see SafetensorsFile::fetch.
  tl::expected<void, Error> fetch(std::uint64_t offset, std::span<std::byte> to) const {
    return shard->fetch(*entry, offset, to);
  }
  /// All bytes of the tensor; see SafetensorsFile::bytes.
  tl::expected<std::vector<std::byte>, Error> bytes() const { return shard->bytes(*entry); }
};

/// An object of config.json that describes a quantization.
struct QuantizationBlock {
  std::string path;  ///< keys from the root: "text_config.quantization_config"
  const Json* block; ///< points into the configuration
};
/// All quantization blocks of `config`, the decisive block first:
///  - quantization_config, then text_config.quantization_config, then compression_config;
///  - those of other members at any depth (thinker_config.text_config), language models before
///    vision, audio, image and speech towers.
std::vector<QuantizationBlock> quantizationBlocks(const Json& config);

/// An open checkpoint. Movable; keeps its shards open.
class Folder {
public:
  /// Opens a folder or a single file. Errors:
  ///  - an index that names a path outside the folder, or a link that leads outside (links to the
  ///    blobs of a Hugging Face cache are allowed);
  ///  - shards that are missing or damaged;
  ///  - a tensor in two shards, or in another shard than the index says;
  ///  - invalid JSON, or a key twice in one object;
  ///  - PyTorch pickles; the error says how to convert them;
  ///  - the folder of an unfinished job, if `unfinished` is Refused.
  static tl::expected<Folder, Error> open(const std::filesystem::path& path,
                                          UnfinishedJob unfinished = UnfinishedJob::Refused);

  /// For lint: opens the readable files and reports all problems in `findings`. Error: there is no
  /// shard.
  static tl::expected<Folder, Error> openDamaged(const std::filesystem::path& path,
                                                 Findings& findings);

  /// A checkpoint of files that are already open. If several tensors have the same name, the first
  /// counts.
  static Folder ofFiles(std::vector<SafetensorsFile> files, Json config = nullptr,
                        Json quantConfig = nullptr);

  /// The folder, also if a single file was opened.
  const std::filesystem::path& path() const { return root; }
  /// Whether a single file was opened. Then config(), quantConfig() and otherFiles() are empty.
  bool isSingleFile() const { return singleFile; }

  /// All tensors, by shard, then by offset.
  std::span<const StoredTensor> tensors() const { return stored; }
  /// The tensor of that name; null if there is none.
  const StoredTensor* find(std::string_view name) const;
  /// File names of the shards relative to path(), sorted.
  std::span<const std::string> shardNames() const { return shards; }
  /// The file of shardNames()[i].
  const SafetensorsFile& shard(std::size_t i) const { return files[i]; }
  /// The file name of the index; empty if there is none.
  const std::string& indexName() const { return index; }
  /// The member `metadata` of the index; null if there is none.
  const Json& indexMetadata() const { return metadata; }

  /// Content of config.json and hf_quant_config.json; null if the file does not exist.
  const Json& config() const { return configuration; }
  const Json& quantConfig() const { return modelOptConfiguration; }
  /// The first of quantizationBlocks(config()); null if there is none.
  const Json& quantizationConfig() const;

  /// The other regular files (tokenizer, generation_config.json, ...), relative to path(). A
  /// converted checkpoint gets copies of them. Files of a subfolder are included unless the
  /// subfolder is hidden, is a link, or holds weights that are not shards of this checkpoint.
  /// Weights in other forms are excluded.
  std::span<const std::string> otherFiles() const { return others; }

  /// The name of the shard, index or configuration that `path` refers to, by any spelling or link;
  /// nullopt if it refers to none. If a single file was opened and its folder has an index, the
  /// folder's index and shards count too.
  std::optional<std::string> ownFile(const std::filesystem::path& path) const;
  /// The name of any other file in or below the folder that `path` refers to: one of otherFiles(),
  /// weights in another form, and so on. nullopt if there is none. If a single file was opened,
  /// nullopt unless its folder has an index.
  std::optional<std::string> otherFile(const std::filesystem::path& path) const;

private:
  friend class FolderOpener;

  std::filesystem::path root;
  bool singleFile = false;
  std::string index;
  std::vector<std::string> shards, others;
  std::vector<SafetensorsFile> files; ///< must not grow once `stored` points into it
  std::vector<StoredTensor> stored;
  std::unordered_map<std::string_view, std::size_t> byName;
  Json metadata, configuration, modelOptConfiguration;
};

} // namespace octavo::checkpoint
