// A file's bytes, mapped read-only into memory: what is not touched is not read, or as little of it
// as the system reads ahead.
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

class MappedFile {
public:
  /// Maps a regular file. The file must keep its length while it is mapped: the system ends a
  /// process that reads a page which is no longer there.
  static tl::expected<MappedFile, Error> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept
      : address(std::exchange(other.address, nullptr)),
        scatteredAddress(std::exchange(other.scatteredAddress, nullptr)),
        length(std::exchange(other.length, 0)), modified(other.modified),
        file(std::exchange(other.file, -1)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(address, other.address);
    std::swap(scatteredAddress, other.scatteredAddress);
    std::swap(length, other.length);
    std::swap(modified, other.modified);
    std::swap(file, other.file);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(address), length};
  }

  /// The same bytes in a mapping of their own, of which single pages are read: for small pieces far
  /// from each other. Around each such piece bytes() would read 128 KiB and more.
  std::span<const std::byte> scatteredBytes() const {
    return {static_cast<const std::byte*>(scatteredAddress), length};
  }

  /// Copies bytes from `offset` on. What is read once from end to end costs less so than through
  /// the mapping, whose pages fault and are let go of again. Any thread. Error: what is wrong, as
  /// words.
  tl::expected<void, std::string> read(std::uint64_t offset, std::span<std::byte> to) const;

  /// Whether the file has the length and the time of modification that it had when it was opened. A
  /// file that another has taken the place of is unchanged: this is still the first.
  bool isUnchanged() const;

  /// Says that `part`, of bytes() or scatteredBytes(), is not needed for now: its pages leave this
  /// process's memory. It can still be read, from the system's cache or the disk.
  void release(std::span<const std::byte> part) const;

private:
  MappedFile(void* address, void* scatteredAddress, std::size_t length, timespec modified, int file)
      : address(address), scatteredAddress(scatteredAddress), length(length), modified(modified),
        file(file) {}
  void* address;
  void* scatteredAddress;
  std::size_t length;
  timespec modified;
  int file; ///< open as long as the mapping
};

} // namespace octavo::checkpoint
