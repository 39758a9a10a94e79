// applyScales: writes scales into a checkpoint without changing the bytes of its weights.

#include "octavo/Checkpoint/Files/DurableFolder.h"
#include "octavo/Checkpoint/Files/FolderLock.h"
#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Checkpoint/Files/ShardWriter.h"
#include "octavo/Checkpoint/KvScales/ScaleTiers.h"
#include "octavo/Checkpoint/ModuleNames/KvNames.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/Tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace octavo::checkpoint {

namespace {

/// The changes of one shard: new bytes of existing tensors, new tensors, removed tensors.
struct ShardUpdate {
  std::map<std::string, StoredScale, std::less<>> replaced;
  std::vector<StoredScale> added;
  std::set<std::string, std::less<>> removed;

  bool isEmpty() const { return replaced.empty() && added.empty() && removed.empty(); }
};

std::vector<std::byte> encode(const SafetensorsDtype& dtype, std::span<const float> values) {
  const format::ElementFormat& format = dtype.type->format();
  std::vector<std::byte> bytes(values.size() * format.bytes());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t code = numerics::convert(format, values[i]);
    std::memcpy(bytes.data() + i * format.bytes(), &code, format.bytes());
  }
  return bytes;
}

bool isFloat(const SafetensorsDtype& dtype) {
  return dtype.type && dtype.type->isFloat() && dtype.bits >= 8;
}

class Update {
public:
  Update(const Folder& folder, const Layout& layout, const Inventory& inventory)
      : folder(folder), layout(layout), inventory(inventory), shards(folder.shardNames().size()) {}

  tl::expected<void, Error> add(const StoredScale& scale) {
    const auto match = matchKvName(scale.name);
    if (!match)
      return put(scale.name, scale, shardOfModule(scale.name.substr(0, scale.name.rfind('.'))));
    const std::string module(match->module);
    for (const std::string& name : canonicalScaleNames(scale.name))
      if (auto done = putKv(module, name, scale, shardOfModule(module)); !done)
        return done;
    return {};
  }

  tl::expected<std::vector<ScaleChange>, Error> write() {
    const auto lock = FolderLock::take(folder.path());
    if (!lock)
      return tl::unexpected(lock.error());
    lock->removeTemporaries();
    if (auto done = splitOldPairs().and_then([&] { return removeOtherNames(); }); !done)
      return tl::unexpected(std::move(done.error()));
    const bool removes = std::ranges::any_of(
        shards, [](const ShardUpdate& shard) { return !shard.removed.empty(); });
    // The index lists a tensor only while a shard has it: removed tensors leave the index first,
    // added tensors enter it last. The folder opens after an interruption at any point.
    if (removes)
      if (auto done = writeIndex(Listing::WithoutRemoved); !done)
        return tl::unexpected(std::move(done.error()));
    std::set<std::filesystem::path>
        folders; // also folders of shards that an earlier, interrupted run has written
    for (std::size_t i = 0; i < shards.size(); ++i) {
      folders.insert(folderOf(folder.path() / folder.shardNames()[i]));
      if (!shards[i].isEmpty())
        if (auto done = writeShard(i); !done)
          return tl::unexpected(std::move(done.error()));
    }
    for (const std::filesystem::path& each : folders)
      if (auto synced = syncFolder(each); !synced)
        return tl::unexpected(std::move(synced.error()));
    if (auto done = writeIndex(Listing::Final); !done)
      return tl::unexpected(std::move(done.error()));
    return std::move(changes);
  }

private:
  enum class Listing { WithoutRemoved, Final };

  std::size_t shardOf(const StoredTensor& tensor) const {
    for (std::size_t i = 0; i < shards.size(); ++i)
      if (&folder.shard(i) == tensor.shard)
        return i;
    return 0;
  }

  /// The shard of the module's k_proj, else of any tensor of the module, else the first.
  std::size_t shardOfModule(const std::string& module) const {
    const StoredTensor* found = nullptr;
    for (const StoredTensor& tensor : folder.tensors()) {
      if (tensor.name().starts_with(module + ".k_proj."))
        return shardOf(tensor);
      if (!found && tensor.name().starts_with(module + "."))
        found = &tensor;
    }
    return found ? shardOf(*found) : 0;
  }

  const SafetensorsDtype* plainDtype() const {
    for (const StoredTensor& tensor : inventory.plain)
      if (isFloat(*tensor.entry->dtype) && tensor.entry->dtype->bits >= 16)
        return tensor.entry->dtype;
    return findSafetensorsDtype("F32");
  }

  /// Sets the tensor `name` to the values of `scale`: replaces it if it exists, else adds it to
  /// shard `home`.
  tl::expected<void, Error> put(const std::string& name, const StoredScale& scale,
                                std::size_t home) {
    const StoredTensor* there = folder.find(name);
    if (!there) {
      StoredScale added = scale;
      added.name = name;
      changes.push_back(
          {name, folder.shardNames()[home], ScaleChange::Kind::Added, {}, scale.values()});
      shards[home].added.push_back(std::move(added));
      return {};
    }
    const SafetensorsEntry& entry = *there->entry;
    auto old = there->bytes();
    if (!old)
      return tl::unexpected(std::move(old.error()));
    StoredScale replaced = {name, entry.dtype, entry.shape, scale.bytes};
    const auto count = static_cast<std::size_t>(numerics::elementCount(entry.shape));
    std::vector<float> values = scale.values();
    if (isFloat(*entry.dtype) && !values.empty()) {
      if (values.size() == 1)
        values.resize(count, values.front()); // one scale for all heads
      if (values.size() == count)
        replaced.bytes = encode(*entry.dtype, values);
    }
    if (replaced.bytes.size() != old->size() ||
        (!isFloat(*entry.dtype) && scale.dtype != entry.dtype))
      return tl::unexpected(
          Error{.file = there->shard->name(),
                .problem = "the scale in the file does not fit",
                .tensor = name,
                .expected = fmt::format("{} [{}]", entry.dtype->name, fmt::join(entry.shape, ", ")),
                .found = fmt::format("{} [{}]", scale.dtype->name, fmt::join(scale.shape, ", ")),
                .fix = "write it with the shape that the checkpoint has"});
    const StoredScale before = {name, entry.dtype, entry.shape, std::move(*old)};
    const bool isSame = replaced.bytes == before.bytes;
    changes.push_back({name, folder.shardNames()[shardOf(*there)],
                       isSame ? ScaleChange::Kind::Same : ScaleChange::Kind::Replaced,
                       before.values(), replaced.values(), replaced.values() == values,
                       !isSame && isOfWeight(name)});
    if (!isSame)
      shards[shardOf(*there)].replaced.insert_or_assign(name, std::move(replaced));
    return {};
  }

  bool isOfWeight(std::string_view tensor) const {
    return std::ranges::any_of(inventory.layers, [&](const Layer& layer) {
      return (layer.scales && layer.scales->tensor.name() == tensor) ||
             (layer.outer && layer.outer->tensor.name() == tensor);
    });
  }

  /// Sets the cache scale `canonical` of `module`. A scale that does not exist yet is added to
  /// shard `home`.
  tl::expected<void, Error> putKv(const std::string& module, const std::string& canonical,
                                  const StoredScale& scale, std::size_t home) {
    settled.insert(canonical);
    const auto kv = std::ranges::find(inventory.kvScales, module, &KvScales::module);
    const KvSpelling spelling = layout.kvSpelling();
    struct Place {
      std::string_view canonical;
      std::optional<Part> KvScales::* part;
      std::string_view spelled;
    };
    const Place places[] = {{".k_scale", &KvScales::key, spelling.key},
                            {".v_scale", &KvScales::value, spelling.value},
                            {".q_scale", &KvScales::query, spelling.query},
                            {".prob_output_scale", &KvScales::probability, spelling.probability}};
    for (const Place& place : places) {
      if (!canonical.ends_with(place.canonical))
        continue;
      if (kv != inventory.kvScales.end() && (*kv).*place.part &&
          !((*kv).*place.part)->tensor.name().ends_with(".kv_scale"))
        return put(((*kv).*place.part)->tensor.name(), scale, 0);
      return put(module + "." + std::string(place.spelled), spelled(scale, spelling), home);
    }
    return {};
  }

  /// The scale in the dtype and shape that the layout writes.
  StoredScale spelled(const StoredScale& scale, const KvSpelling& spelling) const {
    const std::vector<float> values = scale.values();
    const SafetensorsDtype* dtype =
        spelling.dtype.empty() ? plainDtype() : findSafetensorsDtype(spelling.dtype);
    const auto n = static_cast<std::int64_t>(values.size());
    std::vector<std::int64_t> shape;
    if (n != 1)
      shape = {n, 1, 1};
    else if (spelling.shape == ScaleShape::One)
      shape = {1};
    return {scale.name, dtype, std::move(shape), encode(*dtype, values)};
  }

  /// If k_scale or v_scale was set for a module with kv_scale, replaces kv_scale by both.
  tl::expected<void, Error> splitOldPairs() {
    for (const KvScales& kv : inventory.kvScales) {
      const std::string key = kv.module + ".k_scale", value = kv.module + ".v_scale";
      if (!settled.contains(key) && !settled.contains(value))
        continue;
      const StoredTensor* old = folder.find(kv.module + ".kv_scale");
      if (!old)
        continue;
      auto bytes = old->bytes();
      if (!bytes)
        return tl::unexpected(std::move(bytes.error()));
      const StoredScale pair = {old->name(), old->entry->dtype, old->entry->shape,
                                std::move(*bytes)};
      // A scale that only the pair gives goes to the pair's shard: the same rename removes the pair
      // and adds the scale.
      for (const auto& [name, part] : {std::pair(&key, &kv.key), std::pair(&value, &kv.value)})
        if (!settled.contains(*name) && *part && (*part)->tensor.entry == old->entry)
          if (auto done = putKv(kv.module, *name, pair, shardOf(*old)); !done)
            return done;
      if (auto done = remove(*old); !done)
        return done;
    }
    return {};
  }

  /// Removes the other names of scales that were set.
  tl::expected<void, Error> removeOtherNames() {
    for (const KvScales& kv : inventory.kvScales)
      for (const std::vector<Part>* parts : {&kv.repeated, &kv.rivals})
        for (const Part& part : *parts)
          if (const std::vector<std::string> names = canonicalScaleNames(part.tensor.name());
              names.size() == 1 && settled.contains(names.front()))
            if (auto done = remove(part.tensor); !done)
              return done;
    return {};
  }

  tl::expected<void, Error> remove(const StoredTensor& tensor) {
    const std::size_t shard = shardOf(tensor);
    auto bytes = tensor.bytes();
    if (!bytes)
      return tl::unexpected(std::move(bytes.error()));
    const StoredScale was = {tensor.name(), tensor.entry->dtype, tensor.entry->shape,
                             std::move(*bytes)};
    changes.push_back(
        {tensor.name(), folder.shardNames()[shard], ScaleChange::Kind::Removed, was.values(), {}});
    shards[shard].removed.insert(tensor.name());
    return {};
  }

  tl::expected<void, Error> writeShard(std::size_t i) const {
    const SafetensorsFile& file = folder.shard(i);
    const ShardUpdate& update = shards[i];
    std::vector<PlannedTensor> plan;
    std::vector<const SafetensorsEntry*> kept;
    for (const SafetensorsEntry& entry : file.entries())
      if (!update.removed.contains(entry.name)) {
        plan.push_back({entry.name, entry.dtype, entry.shape});
        kept.push_back(&entry);
      }
    for (const StoredScale& scale : update.added)
      plan.push_back({scale.name, scale.dtype, scale.shape});
    auto writer =
        ShardWriter::create(folder.path() / folder.shardNames()[i], plan, file.metadata());
    if (!writer)
      return tl::unexpected(std::move(writer.error()));
    PageBuffer buffer;
    for (std::size_t t = 0; t < kept.size(); ++t) {
      const auto replaced = update.replaced.find(kept[t]->name);
      auto done = replaced == update.replaced.end() ? writer->copy(t, file, *kept[t], buffer)
                                                    : writer->write(t, 0, replaced->second.bytes);
      if (!done)
        return done;
    }
    for (std::size_t t = 0; t < update.added.size(); ++t)
      if (auto done = writer->write(kept.size() + t, 0, update.added[t].bytes); !done)
        return done;
    return writer->place();
  }

  /// Writes the index. Final: all tensors of the shards, existing names in the order of the index,
  /// new names after them. WithoutRemoved: existing names except removed tensors.
  tl::expected<void, Error> writeIndex(Listing listing) const {
    if (folder.indexName().empty())
      return {};
    const std::filesystem::path path = folder.path() / folder.indexName();
    const auto json = readJson(path);
    if (!json)
      return tl::unexpected(json.error());
    std::map<std::string, std::string, std::less<>> places;
    std::uint64_t bytes = 0;
    for (const StoredTensor& tensor : folder.tensors()) {
      const std::size_t shard = shardOf(tensor);
      if (shards[shard].removed.contains(tensor.name()))
        continue;
      places.emplace(tensor.name(), folder.shardNames()[shard]);
      bytes += tensor.size();
    }
    if (listing == Listing::Final)
      for (std::size_t i = 0; i < shards.size(); ++i)
        for (const StoredScale& scale : shards[i].added) {
          places.emplace(scale.name, folder.shardNames()[i]);
          bytes += scale.bytes.size();
        }
    Json map = Json::object();
    auto& ordered = map.get_ref<Json::object_t&>();
    for (const auto& [name, shard] : (*json)["weight_map"].items())
      if (const auto place = places.find(name); place != places.end()) {
        ordered.emplace_back(name, place->second);
        places.erase(place);
      }
    // New names are sorted, so that an interruption does not change their order.
    if (listing == Listing::Final)
      for (const auto& [name, shard] : places)
        ordered.emplace_back(name, shard);
    Json index = *json;
    index["weight_map"] = std::move(map);
    if (index.contains("metadata") && index["metadata"].is_object() &&
        index["metadata"].contains("total_size"))
      index["metadata"]["total_size"] = bytes;
    if (index == *json)
      return {};
    auto file = OutputFile::create(path);
    if (!file)
      return tl::unexpected(std::move(file.error()));
    if (auto written = file->write(std::string_view(index.dump(2) + "\n")); !written)
      return written;
    return file->commit();
  }

  const Folder& folder;
  const Layout& layout;
  const Inventory& inventory;
  std::vector<ShardUpdate> shards;
  std::vector<ScaleChange> changes;
  std::set<std::string, std::less<>> settled; ///< canonical names of scales that were set
};

} // namespace

tl::expected<std::vector<ScaleChange>, Error> applyScales(const Folder& folder,
                                                          const Layout& layout,
                                                          const Inventory& inventory,
                                                          std::span<const StoredScale> scales) {
  Update update(folder, layout, inventory);
  for (const StoredScale& scale : scales)
    if (auto done = update.add(scale); !done)
      return tl::unexpected(std::move(done.error()));
  return update.write();
}

} // namespace octavo::checkpoint
