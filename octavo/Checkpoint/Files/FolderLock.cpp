#include "octavo/Checkpoint/Files/FolderLock.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace octavo::checkpoint {

namespace fs = std::filesystem;

tl::expected<FolderLock, Error> FolderLock::take(const fs::path& folder) {
  FolderLock lock(folder, ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.descriptor < 0)
    return tl::unexpected(
        Error{.file = folder.string(),
              .problem = fmt::format("cannot be opened: {}", std::strerror(errno)),
              .fix = "choose another place"});
  if (::flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return tl::unexpected(Error{.file = folder.string(),
                                .problem = "another octavo is at work in this folder",
                                .fix = "wait for it, or choose another folder"});
  return lock;
}

FolderLock::~FolderLock() {
  if (descriptor >= 0)
    ::close(descriptor);
}

void FolderLock::removeTemporaries(const std::set<std::string>& names) const {
  constexpr std::size_t kSuffix = 7;
  std::error_code ignored;
  std::vector<fs::path> found;
  for (auto entry = fs::recursive_directory_iterator(folder, ignored);
       entry != fs::recursive_directory_iterator(); entry.increment(ignored)) {
    const std::string name = entry->path().lexically_relative(folder).string();
    if (name.size() > kSuffix && name[name.size() - kSuffix] == '.' &&
        names.contains(name.substr(0, name.size() - kSuffix)) && !names.contains(name))
      found.push_back(entry->path());
  }
  for (const fs::path& path : found)
    fs::remove(path, ignored);
}

int FolderLock::sync() const { return ::fsync(descriptor) == 0 ? 0 : errno; }

} // namespace octavo::checkpoint
