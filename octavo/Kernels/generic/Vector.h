// Vectors of the file's instruction set, as the compiler's vector types: arithmetic, shifts and
// comparisons are operators. A set's folder defines OCTAVO_KERNELS_ISA (its namespace) and
// OCTAVO_KERNELS_VECTOR_BYTES, then includes this.
//
// No function of the standard library is called here or in the kernels: an inline function compiled
// with one set's flags could be the copy that the linker keeps for every caller.
#pragma once

#include <cstddef>
#include <cstdint>

#define OCTAVO_INLINE inline __attribute__((always_inline))

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

inline constexpr int kVectorBytes = OCTAVO_KERNELS_VECTOR_BYTES;
inline constexpr int kLanes = kVectorBytes / 4; ///< 32-bit lanes
inline constexpr int kStep = kVectorBytes;      ///< codes in a vector of bytes

template <typename T, int N> using VectorOf = T __attribute__((vector_size(N * sizeof(T))));
using U8 = VectorOf<std::uint8_t, kStep>;
using U16 = VectorOf<std::uint16_t, kStep / 2>;
using U32 = VectorOf<std::uint32_t, kLanes>;
using I32 = VectorOf<std::int32_t, kLanes>;
using F32 = VectorOf<float, kLanes>;

template <typename V> OCTAVO_INLINE V load(const void* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof(V));
  return v;
}
template <typename V> OCTAVO_INLINE void store(void* to, V v) {
  __builtin_memcpy(to, &v, sizeof(V));
}

/// A store that bypasses the caches. `to` is aligned to the vector's size.
template <typename V> OCTAVO_INLINE void storeStreaming(void* to, V v) {
  __builtin_nontemporal_store(v, static_cast<V*>(to));
}

template <bool kStreaming, typename V> OCTAVO_INLINE void storeVector(void* to, V v) {
  if constexpr (kStreaming)
    storeStreaming(to, v);
  else
    store(to, v);
}

/// The prefetch distance of kernels that read memory, in bytes: hardware prefetching alone leaves a
/// third of the memory's rate unused if there is much to compute.
inline constexpr std::size_t kPrefetchBytes = 8192;
/// The prefetch distance to the second-level cache, for kernels bound by computing; the hardware
/// brings the lines from there to the first level, which has few outstanding lines, and loads wait
/// behind them. Kernels bound by memory are slower this way.
inline constexpr std::size_t kFarPrefetchBytes = 16384;
/// The prefetch distance if the values are mostly in the second-level cache: the prefetched lines
/// must fit the first level together with the current values.
inline constexpr std::size_t kNearPrefetchBytes = 2048;

/// Prefetches a step's values; harmless beyond the end of the memory.
template <typename T> OCTAVO_INLINE void prefetchStepAt(std::uintptr_t address) {
  for (std::size_t byte = 0; byte < kStep * sizeof(T); byte += 64)
    __builtin_prefetch(reinterpret_cast<const void*>(address + byte));
}
/// Prefetches a step's worth of memory kAhead bytes after `values`.
template <std::size_t kAhead = kPrefetchBytes, typename T>
OCTAVO_INLINE void prefetchStep(const T* values) {
  prefetchStepAt<T>(reinterpret_cast<std::uintptr_t>(values) + kAhead);
}

/// Asks for what lies so many bytes after `values`, in the second-level cache.
template <std::size_t kAhead = kFarPrefetchBytes>
OCTAVO_INLINE void prefetchLevel2(const void* values) {
  const auto address = reinterpret_cast<std::uintptr_t>(values) + kAhead;
  __builtin_prefetch(reinterpret_cast<const void*>(address), 0, 2);
}
template <typename T> OCTAVO_INLINE void prefetchStepLevel2(const T* values) {
  for (std::size_t i = 0; i < kStep; i += 64 / sizeof(T))
    prefetchLevel2(values + i);
}

OCTAVO_INLINE U32 splat(std::uint32_t x) { return U32{} + x; }
OCTAVO_INLINE F32 splat(float x) { return (F32)splat(__builtin_bit_cast(std::uint32_t, x)); }

OCTAVO_INLINE U32 bits(F32 x) { return (U32)x; }
OCTAVO_INLINE F32 floats(U32 x) { return (F32)x; }

OCTAVO_INLINE U32 minimum(U32 a, U32 b) { return __builtin_elementwise_min(a, b); }
OCTAVO_INLINE U32 maximum(U32 a, U32 b) { return __builtin_elementwise_max(a, b); }

/// Unsigned a > b, all ones or all zeros.
OCTAVO_INLINE U32 above(U32 a, U32 b) { return (U32)(a > b); }
/// All ones in lanes whose sign bit is set.
OCTAVO_INLINE U32 signMask(U32 x) { return (U32)((I32)x >> 31); }
OCTAVO_INLINE U32 select(U32 mask, U32 a, U32 b) { return (mask & a) | (~mask & b); }

// What each set's Parts.h defines, beside FastFloat and withDecodeStep.

/// The low bytes of 4 * kLanes lanes, in order.
OCTAVO_INLINE U8 narrow(const U32 (&x)[4]);
/// The upper halves of 2 * kLanes lanes, in order.
OCTAVO_INLINE U16 upperHalves(F32 a, F32 b);
/// The low bytes of kStep words, in order.
OCTAVO_INLINE U8 narrowWords(U16 a, U16 b);
/// kStep bytes to words.
OCTAVO_INLINE void widenBytes(const std::uint8_t* from, U16 (&words)[2]);
/// Loads kLanes times three bytes to the low parts of dwords, with unspecified upper bytes; stores
/// them.
OCTAVO_INLINE U32 loadTriples(const std::uint8_t* from);
OCTAVO_INLINE void storeTriples(std::uint8_t* to, U32 x);
/// Whether any lane is not 0; lanes are all ones or all zeros.
OCTAVO_INLINE bool anySet(U32 mask);
/// a * b + c, rounded once; called only where the set's kHasMultiplyAdd says so.
OCTAVO_INLINE F32 multiplyAdd(F32 a, F32 b, F32 c);
/// table[index % 8] a lane, of a table of eight that is repeated where there are more lanes; called
/// only where the set's kHasLookup says so.
OCTAVO_INLINE F32 lookup(F32 table, U32 index);
/// Whether there is a NaN among the values.
OCTAVO_INLINE bool anyNan(const U32 (&x)[4]);
/// Orders streaming stores before whatever tells another thread of them.
OCTAVO_INLINE void finishStreaming();

/// The low bytes of 4 * kLanes lanes, in order: the generic form.
OCTAVO_INLINE U8 narrowGeneric(const U32 (&x)[4]) {
  using Bytes = VectorOf<std::uint8_t, kLanes>;
  struct {
    Bytes part[4];
  } parts;
  for (int i = 0; i < 4; ++i)
    parts.part[i] = __builtin_convertvector(x[i], Bytes);
  return __builtin_bit_cast(U8, parts);
}

/// The upper halves of 2 * kLanes lanes, in order: the generic form.
OCTAVO_INLINE U16 upperHalvesGeneric(F32 a, F32 b) {
  using Half = VectorOf<std::uint16_t, kLanes>;
  struct {
    Half part[2];
  } parts{
      {__builtin_convertvector(bits(a) >> 16, Half), __builtin_convertvector(bits(b) >> 16, Half)}};
  return __builtin_bit_cast(U16, parts);
}
OCTAVO_INLINE U8 narrowWordsGeneric(U16 a, U16 b) {
  using Half = VectorOf<std::uint8_t, kStep / 2>;
  struct {
    Half part[2];
  } parts{{__builtin_convertvector(a, Half), __builtin_convertvector(b, Half)}};
  return __builtin_bit_cast(U8, parts);
}
OCTAVO_INLINE void widenBytesGeneric(const std::uint8_t* from, U16 (&words)[2]) {
  using Half = VectorOf<std::uint8_t, kStep / 2>;
  for (int i = 0; i < 2; ++i)
    words[i] = __builtin_convertvector(load<Half>(from + i * kStep / 2), U16);
}
OCTAVO_INLINE U32 loadTriplesGeneric(const std::uint8_t* from) {
  std::uint32_t lanes[kLanes] = {};
  for (int i = 0; i < kLanes; ++i)
    __builtin_memcpy(lanes + i, from + 3 * i, 3);
  return load<U32>(lanes);
}
OCTAVO_INLINE void storeTriplesGeneric(std::uint8_t* to, U32 x) {
  std::uint32_t lanes[kLanes];
  store(lanes, x);
  for (int i = 0; i < kLanes; ++i)
    __builtin_memcpy(to + 3 * i, lanes + i, 3);
}
OCTAVO_INLINE U16 roundToF16(F32 a, F32 b) {
  using Half = VectorOf<_Float16, kLanes>;
  struct {
    Half part[2];
  } parts{{__builtin_convertvector(a, Half), __builtin_convertvector(b, Half)}};
  return __builtin_bit_cast(U16, parts);
}

/// Wide values as bits of f32.
struct LoadF32 {
  using Element = float;
  static OCTAVO_INLINE U32 load(const Element* from) { return OCTAVO_KERNELS_ISA::load<U32>(from); }
};
struct LoadBf16 {
  using Element = std::uint16_t;
  static OCTAVO_INLINE U32 load(const Element* from) {
    using Half = VectorOf<std::uint16_t, kLanes>;
    return __builtin_convertvector(OCTAVO_KERNELS_ISA::load<Half>(from), U32) << 16;
  }
};
struct LoadF16 {
  using Element = std::uint16_t;
  static OCTAVO_INLINE U32 load(const Element* from) {
    using Half = VectorOf<_Float16, kLanes>;
    return bits(__builtin_convertvector(OCTAVO_KERNELS_ISA::load<Half>(from), F32));
  }
};

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
