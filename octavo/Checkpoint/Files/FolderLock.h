// A folder that one process at a time writes to.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"

#include <tl/expected.hpp>

#include <filesystem>
#include <utility>

namespace octavo::checkpoint {

class FolderLock {
public:
  /// Errors: the folder cannot be opened; another process holds it. A file system without locks is
  /// no reason to refuse.
  static tl::expected<FolderLock, Error> take(const std::filesystem::path& folder);

  /// The same, but waits for another process.
  static tl::expected<FolderLock, Error> await(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept
      : folder(std::move(other.folder)), descriptor(std::exchange(other.descriptor, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

  /// Removes the temporary files of processes that are gone, in the folder and below: files of a
  /// temporary name (TemporaryName.h) that no process holds locked.
  void removeTemporaries() const;

private:
  static tl::expected<FolderLock, Error> open(const std::filesystem::path& folder);

  FolderLock(std::filesystem::path folder, int descriptor)
      : folder(std::move(folder)), descriptor(descriptor) {}
  std::filesystem::path folder;
  int descriptor;
};

} // namespace octavo::checkpoint
