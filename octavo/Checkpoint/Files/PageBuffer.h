// A buffer for bytes that are written to a file past the page cache, aligned to the pages of the
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace octavo::checkpoint {

/// Size of a memory page, and alignment of direct writes: file systems accept direct writes in
/// multiples of it on disks of any sector size.
inline constexpr std::size_t kPageBytes = 4096;

/// A buffer that is reused.
class PageBuffer {
public:
  /// Memory for `size` bytes that will be written at `position` of a file: its address modulo
  /// kPageBytes equals that of `position`. Each call may return the same memory; earlier contents
  /// are lost. Throws std::bad_alloc.
  std::span<std::byte> place(std::uint64_t position, std::size_t size);

private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory;
  std::size_t capacity = 0;
};

} // namespace octavo::checkpoint
