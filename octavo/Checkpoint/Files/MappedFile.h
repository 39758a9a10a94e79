// A file's bytes, mapped read-only into memory: nothing is read that is not touched.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

namespace octavo::checkpoint {

class MappedFile {
public:
  /// Maps a regular file. The file must keep its length while it is mapped: the system ends a
  /// process that reads a page which is no longer there.
  static tl::expected<MappedFile, Error> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept
      : address(std::exchange(other.address, nullptr)), length(std::exchange(other.length, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(address, other.address);
    std::swap(length, other.length);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(address), length};
  }

  /// Says that `part`, bytes of this file, is not needed for now: its pages leave this process's
  /// memory. It can still be read, from the system's cache or the disk.
  void release(std::span<const std::byte> part) const;

private:
  MappedFile(void* address, std::size_t length) : address(address), length(length) {}
  void* address;
  std::size_t length;
};

} // namespace octavo::checkpoint
