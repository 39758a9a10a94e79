#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <utility>

namespace octavo::kernels {

namespace {

constexpr std::size_t kLine = 64;
/// The most bytes that a thread keeps. A call that needs more works so long that allocation time
/// does not matter, and a thread that frees the memory of other threads must not accumulate it.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

std::byte* allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (bytes > static_cast<std::size_t>(-1) / 2 - kLine ||
      posix_memalign(&memory, kLine, bytes + kLine) != 0)
    throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

/// Free blocks of 2^i bytes in linked lists: each block begins with a pointer to the next.
class Pool {
public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (std::byte*& first : lists)
      while (first != nullptr)
        std::free(std::exchange(first, next(first)));
    isGone = true;
  }

  std::byte* take(std::size_t bytes) {
    std::byte*& first = listOf(bytes);
    if (first == nullptr)
      return allocate(bytes);
    kept -= bytes;
    return std::exchange(first, next(first));
  }
  void giveBack(std::byte* memory, std::size_t bytes) {
    if (kept + bytes > kMostBytes)
      return std::free(memory);
    kept += bytes;
    next(memory) = std::exchange(listOf(bytes), memory);
  }

  /// Whether the thread's pool is destroyed, because the thread ends.
  static thread_local bool isGone;

private:
  static std::byte*& next(std::byte* piece) { return *reinterpret_cast<std::byte**>(piece); }
  std::byte*& listOf(std::size_t bytes) {
    return lists[static_cast<std::size_t>(std::countr_zero(bytes))];
  }

  std::array<std::byte*, std::countr_zero(kMostBytes) + 1> lists{}; ///< the first of each size
  std::size_t kept = 0;
};

thread_local bool Pool::isGone = false;

std::size_t sizeOf(std::size_t bytes) { return std::bit_ceil(std::max(bytes, kLine)); }

/// Nothing is kept under the address sanitizer, so that it checks each allocation by itself.
#if __has_feature(address_sanitizer)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

Pool& pool() {
  thread_local Pool own;
  return own;
}

} // namespace

std::byte* takeThreadMemory(std::size_t bytes) {
  if (!kKeeps || bytes > kMostBytes || Pool::isGone)
    return allocate(bytes);
  return pool().take(sizeOf(bytes));
}

void giveBackThreadMemory(std::byte* memory, std::size_t bytes) noexcept {
  if (!kKeeps || bytes > kMostBytes || Pool::isGone)
    return std::free(memory);
  pool().giveBack(memory, sizeOf(bytes));
}

} // namespace octavo::kernels
