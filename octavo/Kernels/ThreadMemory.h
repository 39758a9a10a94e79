// Memory for as long as a call lasts, which the thread keeps for its next calls: what a kernel
// needs beside its operands and results is allocated once.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace octavo::kernels {

/// So many bytes and 64 to look ahead at, aligned to 64. Throws std::bad_alloc.
std::byte* takeThreadMemory(std::size_t bytes);
/// On any thread, which keeps them.
void giveBackThreadMemory(std::byte* memory, std::size_t bytes) noexcept;

template <typename T> struct ThreadAllocator {
  using value_type = T;

  ThreadAllocator() = default;
  template <typename U> ThreadAllocator(const ThreadAllocator<U>& /*other*/) {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T))
      throw std::bad_array_new_length();
    return reinterpret_cast<T*>(takeThreadMemory(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    giveBackThreadMemory(reinterpret_cast<std::byte*>(memory), n * sizeof(T));
  }
  /// Elements that are given no value have none: what a kernel writes is not cleared before.
  template <typename U, typename... Values> void construct(U* at, Values&&... values) {
    if constexpr (sizeof...(Values) == 0)
      ::new (static_cast<void*>(at)) U;
    else
      ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
  }
  friend bool operator==(const ThreadAllocator& /*a*/, const ThreadAllocator& /*b*/) {
    return true;
  }
};

/// A thing whose memory the thread keeps. It is taken away while it is in use: a thread that waits
/// for others may begin the same again.
template <typename T> class ThreadKept {
public:
  ThreadKept() : own(std::move(kept)) {}
  ThreadKept(const ThreadKept&) = delete;
  ThreadKept& operator=(const ThreadKept&) = delete;
  ~ThreadKept() { kept = std::move(own); }
  T& operator*() const { return own; }
  T* operator->() const { return &own; }

private:
  static inline thread_local T kept{};
  mutable T own;
};

/// A vector that is gone when the call is over. `ThreadVector<T>(n)` is not cleared.
template <typename T> using ThreadVector = std::vector<T, ThreadAllocator<T>>;

} // namespace octavo::kernels
