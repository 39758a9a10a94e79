// Temporary memory of kernels, cached by each thread: a call's buffers are allocated once and
// reused by the thread's next calls.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace octavo::kernels {

/// Uninitialized memory of `bytes` bytes, aligned to 64, with 64 readable bytes after it. Throws
/// std::bad_alloc.
std::byte* takeThreadMemory(std::size_t bytes);
/// Returns memory of takeThreadMemory. Any thread may call it, and that thread then keeps it.
void giveBackThreadMemory(std::byte* memory, std::size_t bytes) noexcept;

/// An allocator for std::vector that uses the thread's memory.
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
  /// Elements without an initial value stay uninitialized: a kernel writes them anyway.
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

/// An object that the thread keeps for reuse. While it is in use, it is moved out of the thread's
/// store: a thread that waits for others may start another task with an object of the same type.
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

/// A vector for the duration of a call. `ThreadVector<T>(n)` is uninitialized for trivial T.
template <typename T> using ThreadVector = std::vector<T, ThreadAllocator<T>>;

} // namespace octavo::kernels
