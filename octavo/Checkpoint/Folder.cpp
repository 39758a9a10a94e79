#include "octavo/Checkpoint/Folder.h"

#include "octavo/Checkpoint/Files/PathWithin.h"

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
    // Without an index a file beside this one may be another model's, or a scale file.
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
  // A link in the folder is a file of it, and so is what a link elsewhere leads to.
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

const Json& Folder::quantizationConfig() const {
  static const Json none;
  const auto member = [&](const Json& object, const char* key) -> const Json& {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() ? *found : none;
  };
  for (const Json* part : {&member(configuration, "quantization_config"),
                           &member(member(configuration, "text_config"), "quantization_config"),
                           &member(configuration, "compression_config")})
    if (part->is_object())
      return *part;
  return none;
}

} // namespace octavo::checkpoint
