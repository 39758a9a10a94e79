// The folder that a job writes to: whose it is, what of it is done, and what comes last.
#pragma once

#include "octavo/Checkpoint/Files/FolderLock.h"
#include "octavo/Checkpoint/Jobs/Job.h"

namespace octavo::checkpoint {

class JobFolder {
public:
  /// Creates the folder or finds the job's beginnings in it, locks it against other processes, and
  /// removes temporary files that an interrupted run has left. Errors: see runJob.
  static tl::expected<JobFolder, Error> open(const Job& job, const std::filesystem::path& path);

  const std::filesystem::path& path() const { return folder; }

  /// Whether the shard is there, whole and as planned.
  bool has(const PlannedShard& shard) const;
  /// Keeps the reports of the shard's steps for a run after this one. Comes before the shard gets
  /// its name.
  tl::expected<void, Error> remember(const PlannedShard& shard);
  const std::vector<Json>& reports(const std::string& shard) const;
  /// Where a file of that name goes, "sub/x.safetensors" too: its folder is there.
  tl::expected<std::filesystem::path, Error> placeOf(const std::string& name) const;
  /// Copies a whole file of the source.
  tl::expected<void, Error> copyShard(const PlannedShard& shard, const SafetensorsFile& source);
  /// Writes what comes last, and forgets the job.
  tl::expected<void, Error> finish(const Job& job);
  /// Of a job that has stopped: forgets it if nothing is there but its file, and removes the folder
  /// and those above it that this run made. A job that stops at a value is often run again with
  /// other options, which would find the beginnings of another. Whether nothing is left of it.
  bool giveUp() const;

private:
  JobFolder(std::filesystem::path folder, FolderLock lock)
      : folder(std::move(folder)), lock(std::move(lock)) {}
  /// Finds the job's beginnings, or begins it.
  tl::expected<void, Error> begin(const Job& job);
  tl::expected<void, Error> writeState() const;

  std::filesystem::path folder;
  FolderLock lock;
  std::vector<std::filesystem::path> made; ///< by this run, the innermost first
  Json identity;                           ///< of the job
  std::vector<std::pair<std::string, std::vector<Json>>> shardReports;
};

} // namespace octavo::checkpoint
