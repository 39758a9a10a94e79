// A file that is read, in pieces. It is not mapped into memory: a file that becomes shorter under a
// mapping ends the process, one that is read so gives an error.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace octavo::checkpoint {

class InputFile {
public:
  /// Opens a regular file. Errors: it is something else; the file system's.
  static tl::expected<InputFile, Error> open(const std::filesystem::path& path);
  /// Bytes in memory, which must outlive the result, as if they were a file of that name.
  static InputFile ofMemory(std::span<const std::byte> bytes, std::string name) {
    InputFile file(std::move(name), bytes.size(), {}, -1);
    file.memory = bytes;
    return file;
  }

  InputFile(InputFile&& other) noexcept
      : path(std::move(other.path)), length(other.length), modified(other.modified),
        descriptor(std::exchange(other.descriptor, -1)), memory(other.memory) {}
  InputFile& operator=(InputFile&& other) noexcept {
    std::swap(path, other.path);
    std::swap(length, other.length);
    std::swap(modified, other.modified);
    std::swap(descriptor, other.descriptor);
    std::swap(memory, other.memory);
    return *this;
  }
  ~InputFile();

  const std::string& name() const { return path; }
  /// In bytes, when it was opened.
  std::uint64_t size() const { return length; }

  /// Copies the bytes from `offset` on, which lie within size(). Any thread. Errors: the file
  /// system's; the file ends before, since it has become shorter.
  tl::expected<void, Error> read(std::uint64_t offset, std::span<std::byte> to) const;

  /// For the system's own copying; -1: bytes in memory.
  int handle() const { return descriptor; }

  /// Whether the file has the length and the time of modification that it had when it was opened. A
  /// file that another has taken the place of is unchanged: this is still the first.
  bool isUnchanged() const;

private:
  InputFile(std::string path, std::uint64_t length, timespec modified, int descriptor)
      : path(std::move(path)), length(length), modified(modified), descriptor(descriptor) {}
  std::string path;
  std::uint64_t length;
  timespec modified;
  int descriptor; ///< -1: bytes in memory
  std::span<const std::byte> memory = {};
};

} // namespace octavo::checkpoint
