#include "octavo/Checkpoint/Jobs/JobFolder.h"

#include "octavo/Checkpoint/Files/DurableFolder.h"
#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Checkpoint/Files/PathWithin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace octavo::checkpoint {

namespace fs = std::filesystem;

static tl::unexpected<Error> refuse(const fs::path& path, std::string problem, std::string fix) {
  return tl::unexpected(
      Error{.file = path.string(), .problem = std::move(problem), .fix = std::move(fix)});
}

/// The identity of a job: its options, and name, size and modification time of the input's shards.
static tl::expected<Json, Error> identityOf(const Job& job) {
  Json shards = Json::array();
  for (const std::string& name : job.source->shardNames()) {
    struct stat status;
    const fs::path path = job.source->path() / name;
    if (::stat(path.c_str(), &status) != 0)
      return refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)),
                    "the input must stay as it is while it is converted");
    shards.push_back({{"name", name},
                      {"bytes", status.st_size},
                      {"modified_s", status.st_mtim.tv_sec},
                      {"modified_ns", status.st_mtim.tv_nsec}});
  }
  return Json{{"options", job.options}, {"input", shards}};
}

static tl::expected<void, Error> copyFile(const fs::path& from, const fs::path& to) {
  return InputFile::open(from).and_then([&](const InputFile& source) {
    return OutputFile::create(to).and_then([&](OutputFile file) {
      return file.copyFrom(source).and_then([&] { return file.place(); });
    });
  });
}

/// The index's file name: as in the source, or a default name if there are several shards and no
/// index. Empty: no index is written.
static std::string indexName(const Job& job) {
  const std::string& name = job.source->indexName();
  return name.empty() && job.shards.size() > 1 ? "model.safetensors.index.json" : name;
}

/// Removes folders, the innermost first; stops at a folder that is not empty.
static void removeEmpty(std::span<const fs::path> folders) {
  for (const fs::path& each : folders)
    if (::rmdir(each.c_str()) != 0)
      return;
}

tl::expected<JobFolder, Error> JobFolder::open(const Job& job, const fs::path& path) {
  std::error_code error;
  const fs::path input = fs::weakly_canonical(job.source->path(), error);
  const fs::path output = fs::weakly_canonical(path, error);
  if (isWithin(output, input) || isWithin(input, output))
    return refuse(path,
                  fmt::format("the output would be inside the input {}, or the input inside it",
                              input.string()),
                  "choose a folder elsewhere");
  auto made = createFolders(path);
  if (!made)
    return tl::unexpected(std::move(made.error()));
  auto lock = FolderLock::take(path);
  if (!lock)
    return tl::unexpected(std::move(lock.error()));
  JobFolder folder(path, std::move(*lock));
  folder.made = std::move(*made);
  folder.lock.removeTemporaries();
  if (auto begun = folder.begin(job); !begun) {
    if (!folder.made.empty()) // only a folder that this run has created
      folder.giveUp();
    return tl::unexpected(std::move(begun.error()));
  }
  return folder;
}

tl::expected<void, Error> JobFolder::begin(const Job& job) {
  auto ofJob = identityOf(job);
  if (!ofJob)
    return tl::unexpected(std::move(ofJob.error()));
  identity = std::move(*ofJob);

  const fs::path state = folder / kJobFile;
  std::error_code error;
  if (fs::exists(state)) {
    auto found = readJson(state);
    if (!found)
      return tl::unexpected(std::move(found.error()));
    if (!found->is_object() || found->value("job", Json()) != identity)
      return refuse(folder,
                    "this folder holds another unfinished job: other options, another version of "
                    "octavo, or an input that has changed",
                    "finish that one, or remove the folder");
    for (const auto& [shard, reports] : found->at("reports").items())
      shardReports.emplace_back(shard, reports.get<std::vector<Json>>());
  } else if (!fs::is_empty(folder, error)) {
    return refuse(folder, "the folder is not empty and holds no unfinished job",
                  "remove it, or choose another");
  }

  std::uint64_t missing = 0;
  for (const PlannedShard& shard : job.shards)
    if (!has(shard))
      missing += shard.bytes();
  if (const fs::space_info space = fs::space(folder, error); !error && space.available < missing)
    return tl::unexpected(Error{.file = folder.string(),
                                .problem = "there is not enough space",
                                .expected = fmt::format("{} bytes", missing),
                                .found = fmt::format("{} bytes free", space.available),
                                .fix = "free some space, or choose another disk"});
  return writeState();
}

bool JobFolder::has(const PlannedShard& shard) const {
  // A file with its final name is complete. The header shows whether it belongs to this job.
  auto file = SafetensorsFile::open(folder / shard.name);
  if (!file)
    return false;
  const std::vector<PlannedTensor> planned = shard.tensors();
  if (planned.size() != file->entries().size())
    return false;
  std::vector<const PlannedTensor*> byName;
  for (const PlannedTensor& tensor : planned)
    byName.push_back(&tensor);
  std::ranges::sort(byName, {}, &PlannedTensor::name);
  return std::ranges::all_of(file->entries(), [&](const SafetensorsEntry& entry) {
    const auto found = std::ranges::lower_bound(
        byName, std::string_view(entry.name), {},
        [](const PlannedTensor* tensor) -> std::string_view { return tensor->name; });
    return found != byName.end() && (*found)->name == entry.name &&
           (*found)->dtype == entry.dtype && (*found)->shape == entry.shape;
  });
}

tl::expected<void, Error> JobFolder::remember(const PlannedShard& shard) {
  std::vector<Json> reports;
  for (const std::unique_ptr<Step>& step : shard.steps)
    if (Json report = step->report(); !report.is_null())
      reports.push_back(std::move(report));
  if (reports.empty()) // saves two syncs; the job file is still correct
    return {};
  std::erase_if(shardReports, [&](const auto& known) { return known.first == shard.name; });
  shardReports.emplace_back(shard.name, std::move(reports));
  return writeState();
}

const std::vector<Json>& JobFolder::reports(const std::string& shard) const {
  static const std::vector<Json> none;
  const auto found =
      std::ranges::find(shardReports, shard, &decltype(shardReports)::value_type::first);
  return found == shardReports.end() ? none : found->second;
}

tl::expected<void, Error> JobFolder::writeState() const {
  Json reports = Json::object();
  for (const auto& [shard, of] : shardReports)
    reports[shard] = of;
  return OutputFile::create(folder / kJobFile).and_then([&](OutputFile file) {
    return file.write(Json{{"job", identity}, {"reports", reports}}.dump(1) + "\n").and_then([&] {
      return file.commit();
    });
  });
}

tl::expected<fs::path, Error> JobFolder::placeOf(const std::string& name) const {
  const fs::path path = folder / name;
  std::error_code failed;
  fs::create_directories(folderOf(path), failed);
  if (failed)
    return refuse(folderOf(path), "the folder cannot be created: " + failed.message(),
                  "choose another place");
  return path;
}

tl::expected<void, Error> JobFolder::copyShard(const PlannedShard& shard,
                                               const SafetensorsFile& source) {
  return placeOf(shard.name).and_then([&](const fs::path& to) {
    return copyFile(source.name(), to);
  });
}

/// The index of the planned shards, with the metadata of the source's index.
static Json indexOf(const Job& job) {
  Json metadata = job.source->indexMetadata();
  if (!metadata.is_object())
    metadata = Json::object();
  metadata["total_size"] = job.bytes();
  std::vector<std::pair<std::string, std::string>> places;
  for (const PlannedShard& shard : job.shards)
    for (const PlannedTensor& tensor : shard.tensors())
      places.emplace_back(tensor.name, shard.name);
  std::ranges::sort(places);
  Json map = Json::object();
  auto& entries = map.get_ref<Json::object_t&>();
  for (auto& [tensor, shard] : places)
    entries.push_back({std::move(tensor), std::move(shard)});
  return {{"metadata", std::move(metadata)}, {"weight_map", std::move(map)}};
}

tl::expected<void, Error> JobFolder::finish(const Job& job) {
  for (std::size_t i = 0; i < job.source->shardNames().size(); ++i)
    if (const SafetensorsFile& shard = job.source->shard(i); !shard.isUnchanged())
      return refuse(
          shard.name(),
          fmt::format(
              "was written to while it was being read: {} may mix bytes from before and after",
              folder.string()),
          fmt::format("find out what writes to it, remove {}, and run this again",
                      folder.string()));
  std::set<fs::path> folders = {folder};
  const auto addFoldersOf = [&](const std::string& name) {
    for (fs::path each = fs::path(name).parent_path(); !each.empty(); each = each.parent_path())
      folders.insert(folder / each);
  };
  for (const PlannedShard& shard : job.shards)
    addFoldersOf(shard.name);
  for (const std::string& other : job.source->otherFiles()) {
    auto copied = placeOf(other).and_then(
        [&](const fs::path& to) { return copyFile(job.source->path() / other, to); });
    if (!copied)
      return copied;
    addFoldersOf(other);
  }
  std::vector<std::pair<std::string, Json>> last;
  if (const std::string index = indexName(job); !index.empty())
    last.emplace_back(index, indexOf(job));
  if (!job.quantConfig.is_null())
    last.emplace_back(kQuantConfigFile, job.quantConfig);
  if (!job.config.is_null())
    last.emplace_back(kConfigFile, job.config);
  for (const auto& [name, json] : last) {
    auto written = OutputFile::create(folder / name).and_then([&](OutputFile file) {
      return file.write(json.dump(2) + "\n").and_then([&] { return file.place(); });
    });
    if (!written)
      return written;
  }
  // Without kJobFile the folder counts as complete, so all other names must be durable first.
  for (const fs::path& each : folders)
    if (auto synced = syncFolder(each); !synced)
      return synced;
  if (::unlink((folder / kJobFile).c_str()) != 0)
    return refuse(folder / kJobFile, fmt::format("cannot be removed: {}", std::strerror(errno)),
                  "remove it: the checkpoint beside it is whole");
  return syncFolder(folder);
}

bool JobFolder::giveUp() const {
  std::error_code failed;
  std::vector<fs::path> below; // subfolders for shards, all empty
  for (auto entry = fs::recursive_directory_iterator(folder, failed);
       !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed))
    if (entry->is_directory(failed))
      below.push_back(entry->path());
    else if (entry->path().filename() != kJobFile)
      return false;
  if (failed)
    return false;
  ::unlink((folder / kJobFile).c_str());
  for (auto each = below.rbegin(); each != below.rend(); ++each)
    ::rmdir(each->c_str());
  removeEmpty(made);
  return true;
}

} // namespace octavo::checkpoint
