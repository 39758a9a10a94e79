#include "octavo/Checkpoint/Files/DurableFolder.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace octavo::checkpoint {

namespace fs = std::filesystem;

tl::expected<void, Error> syncFolder(const fs::path& folder) {
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // EINVAL: the file system cannot sync a folder.
  const int code = handle < 0 || (::fsync(handle) != 0 && errno != EINVAL) ? errno : 0;
  if (handle >= 0)
    ::close(handle);
  if (code == 0)
    return {};
  return tl::unexpected(
      Error{.file = folder.string(),
            .problem = std::string("the folder cannot be synced to disk: ") + std::strerror(code),
            .fix = "check its disk"});
}

tl::expected<std::vector<fs::path>, Error> createFolders(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> missing;
  for (fs::path each = folder; !each.empty() && !fs::exists(each, failed);
       each = each.parent_path())
    missing.push_back(each);
  fs::create_directories(folder, failed);
  if (failed || !fs::is_directory(folder))
    return tl::unexpected(Error{.file = folder.string(),
                                .problem = "the folder cannot be created: " +
                                           (failed ? failed.message() : "a file is there"),
                                .fix = "choose another place"});
  for (auto each = missing.rbegin(); each != missing.rend(); ++each)
    if (auto synced = syncFolder(folderOf(*each)); !synced)
      return tl::unexpected(std::move(synced.error()));
  return missing;
}

fs::path folderOf(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

} // namespace octavo::checkpoint
