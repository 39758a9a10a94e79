#include "octavo/Checkpoint/Files/PageBuffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace octavo::checkpoint {

/// A disk takes a list of a few hundred places in memory at a time: large pages make few of them,
/// so that a write of some MiB is one request (3.5 GB/s where small pages gave 2.2).
static constexpr std::size_t kLargePage = std::size_t{2} << 20;

void PageBuffer::Free::operator()(std::byte* memory) const { std::free(memory); }

std::span<std::byte> PageBuffer::place(std::uint64_t position, std::size_t size) {
  const std::size_t inPage = position % kPageBytes;
  if (inPage + size > capacity) {
    const std::size_t page = size < kLargePage / 2 ? kPageBytes : kLargePage;
    // With room for any position: the next piece of as many bytes lies elsewhere in its page.
    const std::size_t wanted = (kPageBytes + size + page - 1) / page * page;
    memory.reset();
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(page, wanted)));
    if (!memory)
      throw std::bad_alloc();
    capacity = wanted;
    ::madvise(memory.get(), capacity, MADV_HUGEPAGE); // advice: small pages do as well
  }
  return {memory.get() + inPage, size};
}

} // namespace octavo::checkpoint
