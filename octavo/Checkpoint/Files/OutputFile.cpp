#include "octavo/Checkpoint/Files/OutputFile.h"

#include <algorithm>
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
      descriptor(std::exchange(other.descriptor, -1)), waiting(other.waiting.load()) {}

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

tl::expected<void, Error> OutputFile::reserve(std::uint64_t length) {
  if (length == 0)
    return {};
  if (::fallocate(descriptor, 0, 0, static_cast<off_t>(length)) == 0)
    return {};
  if (errno != EOPNOTSUPP && errno != EINTR)
    return failure("its disk space cannot be reserved", errno);
  if (::ftruncate(descriptor, static_cast<off_t>(length)) != 0)
    return failure("cannot be made as long as it must be", errno);
  return {};
}

/// Bytes after which the disk is told to begin: waiting for it at the end alone would leave it idle
/// before.
static constexpr std::uint64_t kDiskBegins = std::uint64_t{32} << 20;

void OutputFile::beginDisk(std::uint64_t offset, std::uint64_t length) {
  ::sync_file_range(descriptor, static_cast<off64_t>(offset), static_cast<off64_t>(length),
                    SYNC_FILE_RANGE_WRITE); // advice: commit finds out what fails
}

tl::expected<void, Error> OutputFile::writeAt(std::uint64_t offset,
                                              std::span<const std::byte> bytes) {
  const std::uint64_t before = waiting.fetch_add(bytes.size());
  const bool isEnough = before / kDiskBegins != (before + bytes.size()) / kDiskBegins;
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR)
        continue;
      return failure("cannot be written", errno);
    }
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (isEnough)
    beginDisk(0, 0); // to the end of the file
  return {};
}

tl::expected<bool, Error> OutputFile::copyAt(std::uint64_t offset, int source, std::uint64_t from,
                                             std::uint64_t length) {
  auto in = static_cast<off64_t>(from);
  auto out = static_cast<off64_t>(offset);
  while (length > 0) {
    const ssize_t copied = ::copy_file_range(source, &in, descriptor, &out,
                                             std::min<std::uint64_t>(length, kDiskBegins), 0);
    if (copied < 0 && errno == EINTR)
      continue;
    if (copied < 0 && (errno == ENOSPC || errno == EIO || errno == EDQUOT || errno == EFBIG))
      return failure("cannot be written", errno);
    if (copied <= 0)
      return false;
    length -= static_cast<std::uint64_t>(copied);
    beginDisk(static_cast<std::uint64_t>(out - copied), static_cast<std::uint64_t>(copied));
  }
  return true;
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
