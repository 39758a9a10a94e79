#include "octavo/Checkpoint/Jobs/JobFolder.h"

#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Checkpoint/Files/PathWithin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
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

/// What makes two jobs one: the options and the input's shards, as the file system knows them.
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

static tl::expected<void, Error> writeFile(const fs::path& path, std::string_view text) {
  return OutputFile::create(path).and_then(
      [&](OutputFile file) { return file.write(text).and_then([&] { return file.commit(); }); });
}

/// A copy of a whole file, by the kernel where it can.
static tl::expected<void, Error> copyFile(const fs::path& from, const fs::path& to) {
  const int source = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (source < 0 || ::fstat(source, &status) != 0)
    return refuse(from, fmt::format("cannot be read: {}", std::strerror(errno)),
                  "make it readable, or remove it");
  const auto length = static_cast<std::uint64_t>(status.st_size);
  auto copied = OutputFile::create(to).and_then([&](OutputFile file) -> tl::expected<void, Error> {
    auto done = file.reserve(length).and_then([&] { return file.copyFrom(source, length); });
    if (!done)
      return tl::unexpected(std::move(done.error()));
    if (!*done) {
      std::vector<std::byte> buffer(std::size_t{1} << 20);
      for (std::uint64_t at = 0; at < length;) {
        const ssize_t n = ::pread(source, buffer.data(), buffer.size(), static_cast<off_t>(at));
        if (n < 0 && errno == EINTR)
          continue;
        if (n <= 0)
          return refuse(from, "ends before its length", "copy or download it again");
        auto written = file.writeAt(at, std::span(buffer).first(static_cast<std::size_t>(n)));
        if (!written)
          return written;
        at += static_cast<std::uint64_t>(n);
      }
    }
    return file.commit();
  });
  ::close(source);
  return copied;
}

/// The source's name of it; where several shards have none, they get one. Empty: none is written.
static std::string indexName(const Job& job) {
  const std::string& name = job.source->indexName();
  return name.empty() && job.shards.size() > 1 ? "model.safetensors.index.json" : name;
}

/// The names that the job gives to files.
static std::set<std::string> finalNames(const Job& job) {
  std::set<std::string> names = {kJobFile, kConfigFile, kQuantConfigFile, indexName(job)};
  for (const PlannedShard& shard : job.shards)
    names.insert(shard.name);
  for (const std::string& other : job.source->otherFiles())
    names.insert(other);
  return names;
}

tl::expected<JobFolder, Error> JobFolder::open(const Job& job, const fs::path& path) {
  std::error_code error;
  const fs::path input = fs::weakly_canonical(job.source->path(), error);
  const fs::path output = fs::weakly_canonical(path, error);
  if (isWithin(output, input) || isWithin(input, output))
    return refuse(
        path,
        fmt::format("the output would lie in the input {}, or the input in it", input.string()),
        "choose a folder elsewhere");
  const bool isNew = fs::create_directories(path, error);
  if (error || !fs::is_directory(path))
    return refuse(path,
                  fmt::format("the folder cannot be created: {}",
                              error ? error.message() : "a file is there"),
                  "choose another place");

  auto lock = FolderLock::take(path);
  if (!lock)
    return tl::unexpected(std::move(lock.error()));
  JobFolder folder(path, std::move(*lock));
  folder.isNew = isNew;
  auto identity = identityOf(job);
  if (!identity)
    return tl::unexpected(std::move(identity.error()));
  folder.identity = std::move(*identity);

  const fs::path state = path / kJobFile;
  if (fs::exists(state)) {
    auto found = readJson(state);
    if (!found)
      return tl::unexpected(std::move(found.error()));
    if (!found->is_object() || found->value("job", Json()) != folder.identity)
      return refuse(path,
                    "this folder has the beginnings of another job: other options, another "
                    "version of octavo, or an input that has changed",
                    "finish that one, or remove the folder");
    for (const auto& [shard, reports] : found->at("reports").items())
      folder.shardReports.emplace_back(shard, reports.get<std::vector<Json>>());
    folder.lock.removeTemporaries(finalNames(job));
  } else {
    // Of a run that was killed before its first word, a temporary job file may be left.
    folder.lock.removeTemporaries({kJobFile});
    if (!fs::is_empty(path, error))
      return refuse(path, "the folder is not empty and holds no unfinished job",
                    "remove it, or choose another");
  }

  std::uint64_t missing = 0;
  for (const PlannedShard& shard : job.shards)
    if (!folder.has(shard))
      missing += shard.bytes();
  if (const fs::space_info space = fs::space(path, error); !error && space.available < missing)
    return tl::unexpected(Error{.file = path.string(),
                                .problem = "there is not enough space",
                                .expected = fmt::format("{} bytes", missing),
                                .found = fmt::format("{} bytes free", space.available),
                                .fix = "free some space, or choose another disk"});
  if (auto written = folder.writeState(); !written)
    return tl::unexpected(std::move(written.error()));
  return folder;
}

bool JobFolder::has(const PlannedShard& shard) const {
  // A file under its name is whole; the header tells whether it is this job's.
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
  if (reports.empty()) // two syncs less; what the job file says stays true
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
  return writeFile(folder / kJobFile, Json{{"job", identity}, {"reports", reports}}.dump(1) + "\n");
}

tl::expected<void, Error> JobFolder::copyShard(const PlannedShard& shard,
                                               const SafetensorsFile& source) {
  return copyFile(source.name(), folder / shard.name);
}

/// The index of the planned shards, with what else the source's says.
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
          fmt::format("was written to while it was read: {} may have some of its bytes "
                      "from before and some from after",
                      folder.string()),
          fmt::format("see what writes to it, remove {}, and run this again", folder.string()));
  for (const std::string& other : job.source->otherFiles()) {
    std::error_code error;
    fs::create_directories((folder / other).parent_path(), error);
    if (auto copied = copyFile(job.source->path() / other, folder / other); !copied)
      return copied;
  }
  std::vector<std::pair<std::string, Json>> last;
  if (const std::string index = indexName(job); !index.empty())
    last.emplace_back(index, indexOf(job));
  if (!job.quantConfig.is_null())
    last.emplace_back(kQuantConfigFile, job.quantConfig);
  if (!job.config.is_null())
    last.emplace_back(kConfigFile, job.config);
  for (const auto& [name, json] : last)
    if (auto written = writeFile(folder / name, json.dump(2) + "\n"); !written)
      return written;
  const int failure = ::unlink((folder / kJobFile).c_str()) != 0 ? errno : lock.sync();
  if (failure != 0)
    return refuse(folder / kJobFile, fmt::format("cannot be removed: {}", std::strerror(failure)),
                  "remove it: the checkpoint beside it is whole");
  return {};
}

void JobFolder::giveUp() const {
  std::error_code failed;
  for (auto entry = fs::directory_iterator(folder, failed);
       !failed && entry != fs::directory_iterator(); entry.increment(failed))
    if (entry->path().filename() != kJobFile)
      return;
  if (failed)
    return;
  ::unlink((folder / kJobFile).c_str());
  if (isNew)
    ::rmdir(folder.c_str());
}

} // namespace octavo::checkpoint
