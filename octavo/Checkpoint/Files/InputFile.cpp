#include "octavo/Checkpoint/Files/InputFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace octavo::checkpoint {

tl::expected<InputFile, Error> InputFile::open(const std::filesystem::path& path) {
  const auto failure = [&](const char* what, int code) {
    return tl::unexpected(Error{.file = path.string(),
                                .problem = std::string(what) + ": " + std::strerror(code),
                                .fix = code == ENOENT ? "check the path"
                                       : code == EMFILE
                                           ? "allow more open files (ulimit -n): each shard is one"
                                           : ""});
  };
  // O_NONBLOCK: without it, opening a pipe would block until a writer opens it, before the pipe can
  // be refused.
  InputFile file(path.string(), 0, {}, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.descriptor < 0)
    return failure("cannot be opened", errno);
  struct stat status;
  if (::fstat(file.descriptor, &status) != 0)
    return failure("cannot be read", errno);
  if (!S_ISREG(status.st_mode))
    return tl::unexpected(Error{
        .file = path.string(), .problem = "not a regular file", .fix = "copy it to a file first"});
  file.length = static_cast<std::uint64_t>(status.st_size);
  file.modified = status.st_mtim;
  return file;
}

tl::expected<void, Error> InputFile::read(std::uint64_t offset, std::span<std::byte> to) const {
  if (descriptor < 0) {
    std::ranges::copy(memory.subspan(offset, to.size()), to.begin());
    return {};
  }
  while (!to.empty()) {
    const ssize_t n = ::pread(descriptor, to.data(), to.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return tl::unexpected(Error{
          .file = path,
          .problem = n < 0 ? std::string("cannot be read: ") + std::strerror(errno)
                           : "became shorter while it was being read",
          .offset = offset,
          .fix = n < 0 ? "check its disk" : "find out what writes to it, and run this again"});
    offset += static_cast<std::uint64_t>(n);
    to = to.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

bool InputFile::isUnchanged() const {
  if (descriptor < 0)
    return true;
  struct stat status;
  return ::fstat(descriptor, &status) == 0 &&
         static_cast<std::uint64_t>(status.st_size) == length &&
         status.st_mtim.tv_sec == modified.tv_sec && status.st_mtim.tv_nsec == modified.tv_nsec;
}

InputFile::~InputFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

} // namespace octavo::checkpoint
