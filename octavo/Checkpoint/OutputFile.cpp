#include "octavo/Checkpoint/OutputFile.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace octavo::checkpoint {

tl::expected<OutputFile, Error> OutputFile::create(const std::filesystem::path& path) {
  std::string temporary = path.string() + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) {
    const int code = errno;
    return tl::unexpected(
        Error{.file = path.string(),
              .problem = std::string("cannot be written: ") + std::strerror(code),
              .fix = code == ENOENT ? "create its folder first" : "choose another place"});
  }
  // mkostemp makes it private; the result gets what any new file of this user would.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, 0666 & ~mask);
  return OutputFile(path, std::move(temporary), descriptor);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path(std::move(other.path)), temporary(std::move(other.temporary)),
      descriptor(std::exchange(other.descriptor, -1)) {}

OutputFile::~OutputFile() {
  if (descriptor < 0)
    return;
  ::close(descriptor);
  ::unlink(temporary.c_str());
}

tl::unexpected<Error> OutputFile::failure(const char* what, int code) const {
  return tl::unexpected(Error{.file = path.string(),
                              .problem = std::string(what) + ": " + std::strerror(code),
                              .fix = code == ENOSPC
                                         ? "free some space and run again; nothing was left behind"
                                         : "nothing was left behind"});
}

tl::expected<void, Error> OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR)
        continue;
      return failure("cannot be written", errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

tl::expected<void, Error> OutputFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text)));
}

tl::expected<void, Error> OutputFile::commit() {
  if (::fsync(descriptor) != 0)
    return failure("cannot be synced to disk", errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return failure("cannot be renamed to its place", errno);
  ::close(std::exchange(descriptor, -1));
  // The name itself lies in the folder. A file system that cannot sync one has kept the data.
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); handle >= 0) {
    ::fsync(handle);
    ::close(handle);
  }
  return {};
}

} // namespace octavo::checkpoint
