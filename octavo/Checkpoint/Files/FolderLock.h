// A folder that one process at a time writes to.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"

#include <tl/expected.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <utility>

namespace octavo::checkpoint {

class FolderLock {
public:
  /// Errors: the folder cannot be opened; another process holds it. A file system without locks is
  /// no reason to refuse.
  static tl::expected<FolderLock, Error> take(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept
      : folder(std::move(other.folder)), descriptor(std::exchange(other.descriptor, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

  /// Removes what killed processes have left of these files of the folder ("a/b" for one below it):
  /// OutputFile's temporaries, NAME.XXXXXX beside NAME. Files of the names themselves stay, and
  /// those of others.
  void removeTemporaries(const std::set<std::string>& names) const;
  /// Makes names of the folder that came and went last. Returns 0, or errno.
  int sync() const;

private:
  FolderLock(std::filesystem::path folder, int descriptor)
      : folder(std::move(folder)), descriptor(descriptor) {}
  std::filesystem::path folder;
  int descriptor;
};

} // namespace octavo::checkpoint
