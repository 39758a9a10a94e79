// The folder that a job writes to: it records which job owns it and what is done, and writes the
// last files.
#pragma once

#include "octavo/Checkpoint/Files/FolderLock.h"
#include "octavo/Checkpoint/Jobs/Job.h"

namespace octavo::checkpoint {

/// Owned by one running job, which holds the folder's lock.
class JobFolder {
public:
  /// Creates the folder, or opens one in which the same job is unfinished. Locks it and removes
  /// temporary files of an interrupted run. Errors: see runJob.
  static tl::expected<JobFolder, Error> open(const Job& job, const std::filesystem::path& path);

  const std::filesystem::path& path() const { return folder; }

  /// Whether the folder has the complete shard, with the planned tensors.
  bool has(const PlannedShard& shard) const;
  /// Saves the reports of the shard's steps in kJobFile for a later run. Call before the shard gets
  /// its name.
  tl::expected<void, Error> remember(const PlannedShard& shard);
  /// The saved reports of a shard.
  const std::vector<Json>& reports(const std::string& shard) const;
  /// The path of a file in the folder ("sub/x.safetensors" too). Creates its subfolder.
  tl::expected<std::filesystem::path, Error> placeOf(const std::string& name) const;
  /// Copies a whole shard of the source.
  tl::expected<void, Error> copyShard(const PlannedShard& shard, const SafetensorsFile& source);
  /// Writes the other files, index and configurations, then removes kJobFile. Error also if a
  /// source shard has changed.
  tl::expected<void, Error> finish(const Job& job);
  /// After an error: if the folder contains only kJobFile, removes the file, the folder and the
  /// folders above it that this run created. Returns whether nothing is left. Reason: after an
  /// error about a value the user often runs with other options, which would be refused as another
  /// job.
  bool giveUp() const;

private:
  JobFolder(std::filesystem::path folder, FolderLock lock)
      : folder(std::move(folder)), lock(std::move(lock)) {}
  /// Reads the state of the unfinished job, or writes a new one.
  tl::expected<void, Error> begin(const Job& job);
  tl::expected<void, Error> writeState() const;

  std::filesystem::path folder;
  FolderLock lock;
  std::vector<std::filesystem::path> made; ///< folders created by this run, the innermost first
  Json identity;                           ///< identifies the job: options and input
  std::vector<std::pair<std::string, std::vector<Json>>> shardReports;
};

} // namespace octavo::checkpoint
