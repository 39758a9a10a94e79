// A file that is read in pieces. It is not mapped into memory: if a mapped file is truncated,
// access ends the process; a truncated file that is read gives an error.
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

/// An open file, or bytes in memory that are read like a file.
class InputFile {
public:
  /// Opens a regular file. Errors: it is not a regular file; the file system.
  static tl::expected<InputFile, Error> open(const std::filesystem::path& path);
  /// Bytes in memory under the name `name`. They must outlive the result.
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

  /// The path or name it was opened with.
  const std::string& name() const { return path; }
  /// Size in bytes when it was opened.
  std::uint64_t size() const { return length; }

  /// Copies to.size() bytes from `offset` on; they must lie within size(). Callable from any
  /// thread. Errors: the file system; the file has been truncated.
  tl::expected<void, Error> read(std::uint64_t offset, std::span<std::byte> to) const;

  /// The file descriptor, for copying inside the kernel; -1 for bytes in memory.
  int handle() const { return descriptor; }

  /// Whether the open file still has the length and the modification time of its opening. If
  /// another file has taken its name, the result is still true: this is the first file.
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
