// Streaming stores to any address. The stores must be whole aligned vectors; otherwise the memory
// would be read first.
#pragma once

#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

OCTAVO_INLINE bool isAligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kVectorBytes == 0;
}

/// Writes consecutive bytes: collects them in the first-level cache, then streams them to memory.
class Stream {
public:
  static constexpr bool kStays = false; ///< what is put may be read and put anew until finish()
  explicit Stream(void* start) {
    skipped = reinterpret_cast<std::uintptr_t>(start) % kVectorBytes;
    to = static_cast<std::uint8_t*>(start) - skipped;
    filled = skipped;
  }
  Stream(const Stream&) = delete;

  /// Where the next bytes go, at most kRoom.
  OCTAVO_INLINE std::uint8_t* place() { return stage + filled; }
  template <typename V> static OCTAVO_INLINE void put(void* place, V v) { store(place, v); }
  /// So many of them have been put there.
  OCTAVO_INLINE void advance(std::size_t bytes) {
    filled += bytes;
    if (__builtin_expect(filled >= kVectorBytes, 1))
      flush();
  }

  /// What is left, with ordinary stores.
  void finish() {
    if (filled > skipped)
      __builtin_memcpy(to + skipped, stage + skipped, filled - skipped);
    filled = skipped = 0;
    finishStreaming();
  }

  static constexpr std::size_t kRoom = 4096;

private:
  __attribute__((noinline)) void flush() {
    std::size_t i = 0;
    if (skipped) { // the first vector is partly someone else's
      __builtin_memcpy(to + skipped, stage + skipped, kVectorBytes - skipped);
      skipped = 0;
      i = kVectorBytes;
    }
    for (; i + kVectorBytes <= filled; i += kVectorBytes)
      storeStreaming(to + i, load<U8>(stage + i));
    to += i;
    filled -= i;
    store(stage, load<U8>(stage + i)); // fewer bytes than a vector
  }

  std::uint8_t* to;    ///< at a multiple of a vector; where stage[0] goes
  std::size_t filled;  ///< bytes of the stage in use
  std::size_t skipped; ///< of them, at its start, those that are not ours
  alignas(64) std::uint8_t stage[kRoom + 2 * kVectorBytes];
};

/// Consecutive bytes from a multiple of a vector on, written around the caches as they come.
class AlignedStream {
public:
  static constexpr bool kStays = false;
  explicit OCTAVO_INLINE AlignedStream(void* start) : to(static_cast<std::uint8_t*>(start)) {}
  OCTAVO_INLINE std::uint8_t* place() { return to; }
  template <typename V> static OCTAVO_INLINE void put(void* place, V v) {
    storeStreaming(place, v);
  }
  OCTAVO_INLINE void advance(std::size_t bytes) { to += bytes; }
  OCTAVO_INLINE void finish() { finishStreaming(); }

private:
  std::uint8_t* to;
};

/// Consecutive bytes, written as they come.
class Direct {
public:
  static constexpr bool kStays = true;
  explicit OCTAVO_INLINE Direct(void* start) : to(static_cast<std::uint8_t*>(start)) {}
  OCTAVO_INLINE std::uint8_t* place() { return to; }
  template <typename V> static OCTAVO_INLINE void put(void* place, V v) { store(place, v); }
  OCTAVO_INLINE void advance(std::size_t bytes) { to += bytes; }
  OCTAVO_INLINE void finish() {}

private:
  std::uint8_t* to;
};

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
