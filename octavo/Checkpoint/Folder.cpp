#include "octavo/Checkpoint/Folder.h"

#include "octavo/Checkpoint/Files/PathWithin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace octavo::checkpoint {

namespace fs = std::filesystem;

Folder Folder::ofFiles(std::vector<SafetensorsFile> files, Json config, Json quantConfig) {
  Folder folder;
  folder.files = std::move(files);
  folder.configuration = std::move(config);
  folder.modelOptConfiguration = std::move(quantConfig);
  for (const SafetensorsFile& file : folder.files) {
    folder.shards.push_back(file.name());
    for (const SafetensorsEntry& entry : file.entries())
      if (folder.byName.emplace(entry.name, folder.stored.size()).second)
        folder.stored.push_back({&file, &entry});
  }
  return folder;
}

const StoredTensor* Folder::find(std::string_view name) const {
  const auto found = byName.find(name);
  return found == byName.end() ? nullptr : &stored[found->second];
}

std::optional<std::string> Folder::ownFile(const fs::path& path) const {
  std::vector<std::string> names = {std::string(kConfigFile), std::string(kQuantConfigFile), index};
  names.insert(names.end(), shards.begin(), shards.end());
  if (singleFile)
    // Without an index, another file in the folder may belong to another model or be a scale file.
    if (const auto whole = open(root); whole && !whole->index.empty()) {
      names.push_back(whole->index);
      names.insert(names.end(), whole->shards.begin(), whole->shards.end());
    }
  for (const std::string& name : names)
    if (std::error_code missing; !name.empty() && fs::equivalent(root / name, path, missing))
      return name;
  return std::nullopt;
}

std::optional<std::string> Folder::otherFile(const fs::path& path) const {
  std::error_code failed;
  if (ownFile(path) || !fs::exists(fs::symlink_status(path, failed)) ||
      fs::is_directory(path, failed))
    return std::nullopt;
  if (singleFile)
    if (const auto whole = open(root); !whole || whole->index.empty())
      return std::nullopt;
  const fs::path top = fs::canonical(root, failed);
  // Both count: a link that lies in the folder, and a link elsewhere that leads into it.
  for (const fs::path& place :
       {fs::canonical(path.has_parent_path() ? path.parent_path() : ".", failed) / path.filename(),
        fs::weakly_canonical(path, failed)})
    if (isWithin(place, top))
      return place.lexically_relative(top).string();
  for (const std::string& name : others)
    if (fs::equivalent(root / name, path, failed))
      return name;
  return std::nullopt;
}

namespace {

constexpr std::array kBlockKeys = {"quantization_config", "compression_config"};

/// Whether a member of the configuration describes a vision, audio, image or speech tower. Its
/// quantization blocks come last.
bool isTower(std::string_view key) {
  return std::ranges::any_of(
      std::to_array<std::string_view>({"vision", "audio", "image", "speech"}),
      [&](std::string_view word) { return key.find(word) != key.npos; });
}

void addBlocks(const Json& part, const std::string& path, std::vector<QuantizationBlock>& blocks) {
  if (!part.is_object())
    return;
  const auto add = [&](const Json& object, const std::string& at, const char* key) {
    if (const auto found = object.find(key); found != object.end() && found->is_object())
      blocks.push_back({at + key, &*found});
  };
  add(part, path, kBlockKeys[0]);
  if (const auto text = part.find("text_config"); text != part.end() && text->is_object())
    add(*text, path + "text_config.", kBlockKeys[0]);
  add(part, path, kBlockKeys[1]);
  for (const bool ofTowers : {false, true})
    for (const auto& [key, value] : part.items())
      if (isTower(key) == ofTowers && std::ranges::find(kBlockKeys, key) == kBlockKeys.end())
        addBlocks(value, fmt::format("{}{}.", path, key), blocks);
}

} // namespace

std::vector<QuantizationBlock> quantizationBlocks(const Json& config) {
  std::vector<QuantizationBlock> all, once;
  addBlocks(config, "", all);
  for (QuantizationBlock& each : all)
    if (std::ranges::find(once, each.block, &QuantizationBlock::block) == once.end())
      once.push_back(std::move(each));
  return once;
}

const Json& Folder::quantizationConfig() const {
  static const Json none;
  const std::vector<QuantizationBlock> blocks = quantizationBlocks(configuration);
  return blocks.empty() ? none : *blocks.front().block;
}

} // namespace octavo::checkpoint
