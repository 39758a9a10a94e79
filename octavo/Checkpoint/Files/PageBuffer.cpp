#include "octavo/Checkpoint/Files/PageBuffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace octavo::checkpoint {

/// Size of large pages. A disk request lists at most a few hundred memory pages; with large pages a
/// write of some MiB is one request (3.5 GB/s, with small pages 2.2).
static constexpr std::size_t kLargePage = std::size_t{2} << 20;

void PageBuffer::Free::operator()(std::byte* memory) const { std::free(memory); }

std::span<std::byte> PageBuffer::place(std::uint64_t position, std::size_t size) {
  const std::size_t inPage = position % kPageBytes;
  if (inPage + size > capacity) {
    const std::size_t page = size < kLargePage / 2 ? kPageBytes : kLargePage;
    // Room for any position: the next piece of the same size may begin elsewhere in its page.
    const std::size_t wanted = (kPageBytes + size + page - 1) / page * page;
    memory.reset();
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(page, wanted)));
    if (!memory)
      throw std::bad_alloc();
    capacity = wanted;
    ::madvise(memory.get(), capacity, MADV_HUGEPAGE); // advice: small pages work too
  }
  return {memory.get() + inPage, size};
}

} // namespace octavo::checkpoint
