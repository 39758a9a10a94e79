// A lock on a folder, so that one process at a time writes to it.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"

#include <tl/expected.hpp>

#include <filesystem>
#include <utility>

namespace octavo::checkpoint {

/// Holds the lock until it is destroyed.
class FolderLock {
public:
  /// Takes the lock. Errors: the folder cannot be opened; another process holds the lock. On a file
  /// system without locks it succeeds.
  static tl::expected<FolderLock, Error> take(const std::filesystem::path& folder);

  /// Takes the lock, and waits while another process holds it. Error: the folder cannot be opened.
  static tl::expected<FolderLock, Error> await(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept
      : folder(std::move(other.folder)), descriptor(std::exchange(other.descriptor, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

  /// Removes temporary files that ended processes have left in or below the folder: files with a
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
