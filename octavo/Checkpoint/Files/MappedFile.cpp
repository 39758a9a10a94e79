#include "octavo/Checkpoint/Files/MappedFile.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace octavo::checkpoint {

tl::expected<MappedFile, Error> MappedFile::open(const std::filesystem::path& path) {
  const auto failure = [&](const char* what, int code) {
    return tl::unexpected(Error{.file = path.string(),
                                .problem = std::string(what) + ": " + std::strerror(code),
                                .fix = code == ENOENT ? "check the path"
                                       : code == EMFILE
                                           ? "allow more open files (ulimit -n): each shard is one"
                                           : ""});
  };
  // O_NONBLOCK: opening a pipe would wait for its writer before it can be refused.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return failure("cannot be opened", errno);
  struct stat status;
  if (::fstat(descriptor, &status) != 0) {
    const int code = errno;
    ::close(descriptor);
    return failure("cannot be read", code);
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return tl::unexpected(Error{
        .file = path.string(), .problem = "not a regular file", .fix = "copy it to a file first"});
  }
  const auto length = static_cast<std::size_t>(status.st_size);
  if (length == 0) { // a mapping of no bytes is an error of mmap, an empty file is none of ours
    return MappedFile(nullptr, nullptr, 0, status.st_mtim, descriptor);
  }
  void* addresses[2];
  for (void*& address : addresses) {
    address = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) {
      const int code = errno;
      if (&address != addresses)
        ::munmap(addresses[0], length);
      ::close(descriptor);
      return failure("cannot be mapped into memory", code);
    }
  }
  ::madvise(addresses[1], length, MADV_RANDOM);
  return MappedFile(addresses[0], addresses[1], length, status.st_mtim, descriptor);
}

tl::expected<void, std::string> MappedFile::read(std::uint64_t offset,
                                                 std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t n = ::pread(file, to.data(), to.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return tl::unexpected(std::string("cannot be read: ") + std::strerror(errno));
    if (n == 0)
      return tl::unexpected(std::string("has become shorter while it was read"));
    offset += static_cast<std::uint64_t>(n);
    to = to.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

bool MappedFile::isUnchanged() const {
  struct stat status;
  return ::fstat(file, &status) == 0 && static_cast<std::size_t>(status.st_size) == length &&
         status.st_mtim.tv_sec == modified.tv_sec && status.st_mtim.tv_nsec == modified.tv_nsec;
}

void MappedFile::release(std::span<const std::byte> part) const {
  // Whole pages only; a page that the neighbours share comes back when they are read.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(part.data()) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(part.data()) + part.size();
  if (!part.empty())
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  for (void* each : {address, scatteredAddress})
    if (each)
      ::munmap(each, length);
  if (file >= 0)
    ::close(file);
}

} // namespace octavo::checkpoint
