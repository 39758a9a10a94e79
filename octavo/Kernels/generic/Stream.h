// Streaming stores to any address: they must be whole vectors at multiples of a vector, or the
// memory is read first after all.
#pragma once

#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// Consecutive bytes, gathered in the first-level cache and written from there around the caches.
class Stream {
public:
  explicit Stream(void* start) {
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    skipped = address % kVectorBytes;
    to = static_cast<std::uint8_t*>(start) - skipped;
    filled = skipped;
  }
  Stream(const Stream&) = delete;

  /// The next vector.
  template <typename V> OCTAVO_INLINE void append(V v) {
    store(stage + filled, v);
    filled += sizeof(V);
    if (__builtin_expect(filled > kStage - kVectorBytes, 0))
      flush();
  }

  /// What is left, its ends with ordinary stores.
  void finish() {
    flush();
    if (filled > skipped)
      __builtin_memcpy(to + skipped, stage + skipped, filled - skipped);
    filled = skipped = 0;
    finishStreaming();
  }

private:
  static constexpr std::size_t kStage = 4096;

  void flush() {
    std::size_t i = 0;
    if (skipped && filled >= kVectorBytes) { // the first vector is partly someone else's
      __builtin_memcpy(to + skipped, stage + skipped, kVectorBytes - skipped);
      skipped = 0;
      i = kVectorBytes;
    }
    for (; i + kVectorBytes <= filled; i += kVectorBytes)
      storeStreaming(to + i, load<U8>(stage + i));
    to += i;
    filled -= i;
    __builtin_memmove(stage, stage + i, filled);
  }

  std::uint8_t* to;    ///< at a multiple of a vector; where stage[0] goes
  std::size_t filled;  ///< bytes of the stage in use
  std::size_t skipped; ///< of them, at its start, those that are not ours
  alignas(64) std::uint8_t stage[kStage];
};

/// Consecutive bytes, written as they come.
class Direct {
public:
  explicit OCTAVO_INLINE Direct(void* start) : to(static_cast<std::uint8_t*>(start)) {}
  template <typename V> OCTAVO_INLINE void append(V v) {
    store(to, v);
    to += sizeof(V);
  }
  OCTAVO_INLINE void finish() {}

private:
  std::uint8_t* to;
};

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
