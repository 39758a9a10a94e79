#include "octavo/Checkpoint/Files/FolderLock.h"

#include "octavo/Checkpoint/Files/TemporaryName.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace octavo::checkpoint {

namespace fs = std::filesystem;

tl::expected<FolderLock, Error> FolderLock::open(const fs::path& folder) {
  FolderLock lock(folder, ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.descriptor < 0)
    return tl::unexpected(
        Error{.file = folder.string(),
              .problem = fmt::format("cannot be opened: {}", std::strerror(errno)),
              .fix = "choose another place"});
  return lock;
}

tl::expected<FolderLock, Error> FolderLock::take(const fs::path& folder) {
  auto lock = open(folder);
  if (lock && ::flock(lock->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return tl::unexpected(Error{.file = folder.string(),
                                .problem = "another octavo is at work in this folder",
                                .fix = "wait for it, or choose another folder"});
  return lock;
}

tl::expected<FolderLock, Error> FolderLock::await(const fs::path& folder) {
  auto lock = open(folder);
  while (lock && ::flock(lock->descriptor, LOCK_EX) != 0 && errno == EINTR) {
  }
  return lock;
}

FolderLock::~FolderLock() {
  if (descriptor >= 0)
    ::close(descriptor);
}

void FolderLock::removeTemporaries() const {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (auto entry = fs::recursive_directory_iterator(
           folder, fs::directory_options::skip_permission_denied, ignored);
       !ignored && entry != fs::recursive_directory_iterator(); entry.increment(ignored))
    if (isTemporaryName(entry->path().filename().string()))
      found.push_back(entry->path());
  for (const fs::path& path : found) {
    // A process that writes a temporary file holds it locked while it runs.
    const int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (file >= 0 && ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        ::flock(file, LOCK_EX | LOCK_NB) == 0)
      ::unlink(path.c_str());
    if (file >= 0)
      ::close(file);
  }
}

} // namespace octavo::checkpoint
