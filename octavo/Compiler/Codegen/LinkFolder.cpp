#include "octavo/Compiler/Codegen/LinkFolder.h"

#include "octavo/Checkpoint/Files/TemporaryName.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace octavo::compiler {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLinkFolderPrefix = "octavo-link";

/// Opens and locks the folder. -1 if it belongs to another user or is in use.
int locked(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat status{};
  if (descriptor >= 0 && ::fstat(descriptor, &status) == 0 && status.st_uid == ::geteuid() &&
      status.st_nlink > 0 && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return descriptor;
  if (descriptor >= 0)
    ::close(descriptor);
  return -1;
}

void removeAbandoned(const fs::path& where) {
  std::error_code ignored;
  std::vector<std::string> found;
  for (auto entry = fs::directory_iterator(where, ignored);
       !ignored && entry != fs::directory_iterator(); entry.increment(ignored)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with(kLinkFolderPrefix) &&
        checkpoint::isTemporaryName(name.substr(std::strlen(kLinkFolderPrefix))))
      found.push_back(entry->path().string());
  }
  for (const std::string& path : found)
    if (const int descriptor = locked(path); descriptor >= 0) {
      fs::remove_all(path, ignored);
      ::close(descriptor);
    }
}

} // namespace

tl::expected<LinkFolder, std::string> LinkFolder::make() {
  std::error_code failed;
  const fs::path where = fs::temp_directory_path(failed);
  if (failed)
    return tl::make_unexpected("a folder for the linker's input: " + failed.message());
  removeAbandoned(where);
  // Another process may remove the new folder as abandoned before it is locked; then retry.
  for (;;) {
    std::string path = (where / (kLinkFolderPrefix + checkpoint::temporaryName())).string();
    checkpoint::KnownTemporary known(path);
    if (::mkdir(path.c_str(), S_IRWXU) != 0)
      return tl::make_unexpected(
          fmt::format("a folder for the linker's input, {}: {}", path, std::strerror(errno)));
    if (const int descriptor = locked(path); descriptor >= 0)
      return LinkFolder(std::move(path), std::move(known), descriptor);
    if (fs::exists(path, failed)) // a file system without locks
      return LinkFolder(std::move(path), std::move(known), -1);
  }
}

LinkFolder::LinkFolder(LinkFolder&& other) noexcept
    : folder(std::exchange(other.folder, {})), known(std::move(other.known)),
      descriptor(std::exchange(other.descriptor, -1)) {}

LinkFolder::~LinkFolder() {
  if (folder.empty())
    return;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (descriptor >= 0)
    ::close(descriptor);
}

} // namespace octavo::compiler
