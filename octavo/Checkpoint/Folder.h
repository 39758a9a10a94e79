// A checkpoint on disk: a folder of safetensors shards with its index and configuration, or one
// safetensors file. Names, shapes and places are read and checked; tensors' bytes are read where
// they are wanted.
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

/// The files that say how weights are quantized; the second is ModelOpt's.
inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kQuantConfigFile = "hf_quant_config.json";

/// The file that a folder has while a job of octavo is writing to it.
inline constexpr const char* kJobFile = ".octavo-job.json";

/// What becomes of a folder with the beginnings of a job. It may lack shards, index and
/// configuration, and nothing else of it shows that.
enum class UnfinishedJob : std::uint8_t { Refused, Opened };

/// A tensor of the checkpoint and the shard that holds it. Both pointers live as long as the
/// Folder.
struct StoredTensor {
  const SafetensorsFile* shard;
  const SafetensorsEntry* entry;

  const std::string& name() const { return entry->name; }
  std::uint64_t size() const { return entry->size(); } ///< in bytes
  /// See SafetensorsFile.
  tl::expected<void, Error> fetch(std::uint64_t offset, std::span<std::byte> to) const {
    return shard->fetch(*entry, offset, to);
  }
  tl::expected<std::vector<std::byte>, Error> bytes() const { return shard->bytes(*entry); }
};

/// A description of a quantization in config.json.
struct QuantizationBlock {
  std::string path; ///< "text_config.quantization_config"
  const Json* block;
};
/// All of them, in the order in which they count: quantization_config, that of text_config,
/// compression_config, then those of other parts of the configuration, at any depth
/// (thinker_config.text_config), those of language models before those of towers.
std::vector<QuantizationBlock> quantizationBlocks(const Json& config);

class Folder {
public:
  /// Opens a folder or a single file. Refused: an index that names a path outside the folder (or a
  /// link that leads there, but for the blobs of a Hugging Face cache), shards that are missing or
  /// damaged, a tensor in another shard than the index says or in two, JSON that is none or has a
  /// key twice, PyTorch pickles (with a sentence how to convert them), the beginnings of a job.
  static tl::expected<Folder, Error> open(const std::filesystem::path& path,
                                          UnfinishedJob unfinished = UnfinishedJob::Refused);

  /// Opens what can be opened and reports the rest: for lint. An Error only if there is no shard.
  static tl::expected<Folder, Error> openDamaged(const std::filesystem::path& path,
                                                 Findings& findings);

  /// A checkpoint of files that are already open. Of tensors of one name the first counts.
  static Folder ofFiles(std::vector<SafetensorsFile> files, Json config = nullptr,
                        Json quantConfig = nullptr);

  /// The folder, also where a single file was opened.
  const std::filesystem::path& path() const { return root; }
  /// Whether a file was opened rather than its folder: it has neither configuration nor other
  /// files.
  bool isSingleFile() const { return singleFile; }

  /// In the order of shards, then of bytes.
  std::span<const StoredTensor> tensors() const { return stored; }
  const StoredTensor* find(std::string_view name) const;
  /// The shards' file names relative to path(), in order of names.
  std::span<const std::string> shardNames() const { return shards; }
  const SafetensorsFile& shard(std::size_t i) const { return files[i]; }
  /// The index's file name; empty where there is none.
  const std::string& indexName() const { return index; }
  /// `metadata` of the index, as read; null where there is none.
  const Json& indexMetadata() const { return metadata; }

  /// config.json and hf_quant_config.json; null where there is none.
  const Json& config() const { return configuration; }
  const Json& quantConfig() const { return modelOptConfiguration; }
  /// The quantization's part of config.json: the first of quantizationBlocks; null where there is
  /// none.
  const Json& quantizationConfig() const;

  /// The other regular files (tokenizer, generation_config.json, ...), relative to path(): what a
  /// converted checkpoint takes along as it is; of subfolders, too, unless they have weights of
  /// their own or a hidden name. Files of weights in other forms are not among them.
  std::span<const std::string> otherFiles() const { return others; }

  /// The name of the file of weights, index or configuration that `path` is, by whatever spelling
  /// or link; nothing if it is none. Of a single file also those beside it that belong to it.
  std::optional<std::string> ownFile(const std::filesystem::path& path) const;
  /// The name of a file in the folder or below that is none of ownFile's: one of otherFiles,
  /// weights in another form. Of a single file only where it is one of an index's.
  std::optional<std::string> otherFile(const std::filesystem::path& path) const;

private:
  friend class FolderOpener;

  std::filesystem::path root;
  bool singleFile = false;
  std::string index;
  std::vector<std::string> shards, others;
  std::vector<SafetensorsFile> files; ///< does not grow any more once `stored` points into it
  std::vector<StoredTensor> stored;
  std::unordered_map<std::string_view, std::size_t> byName;
  Json metadata, configuration, modelOptConfiguration;
};

} // namespace octavo::checkpoint
