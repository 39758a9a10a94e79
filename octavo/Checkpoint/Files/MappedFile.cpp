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
                                .fix = code == ENOENT ? "check the path" : ""});
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
    ::close(descriptor);
    return MappedFile(nullptr, 0);
  }
  void* address = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int code = errno;
  ::close(descriptor);
  if (address == MAP_FAILED)
    return failure("cannot be mapped into memory", code);
  return MappedFile(address, length);
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
  if (address)
    ::munmap(address, length);
}

} // namespace octavo::checkpoint
