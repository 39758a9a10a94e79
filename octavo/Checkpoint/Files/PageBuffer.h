// Memory for bytes on their way to a file, in pages as the file will have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace octavo::checkpoint {

/// Of memory, and what a disk takes at least: file systems accept writes past their cache in
/// multiples of it, on disks of any sector.
inline constexpr std::size_t kPageBytes = 4096;

/// Kept from use to use.
class PageBuffer {
public:
  /// Room for `size` bytes that will lie at `position` of a file. The same memory for each call:
  /// what was there before is lost.
  std::span<std::byte> place(std::uint64_t position, std::size_t size);

private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory;
  std::size_t capacity = 0;
};

} // namespace octavo::checkpoint
