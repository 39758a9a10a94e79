#include "octavo/Program/Folder/MappedFile.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace octavo::program {

tl::expected<Mapping, MappingError> map(const std::filesystem::path& file) {
  const auto wrong = [&](const char* why, bool isMissing = false) {
    return tl::make_unexpected(MappingError{fmt::format("{}: {}", file.string(), why), isMissing});
  };
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int failed = errno;
    return wrong(std::strerror(failed), failed == ENOENT);
  }
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return wrong("it is no file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    ::close(descriptor);
    return Mapping{};
  }
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  const int failed = errno;
  ::close(descriptor);
  if (memory == MAP_FAILED)
    return wrong(std::strerror(failed));
  return Mapping{{static_cast<const std::byte*>(memory), size},
                 std::shared_ptr<const void>(memory, [size](const void* mapped) {
                   ::munmap(const_cast<void*>(mapped), size);
                 })};
}

} // namespace octavo::program
