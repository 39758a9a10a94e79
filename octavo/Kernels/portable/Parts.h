// The parts of the portable set: vectors of 16 bytes, compiled for the baseline.
#pragma once

#define OCTAVO_KERNELS_ISA portable
#define OCTAVO_KERNELS_VECTOR_BYTES 16
#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/generic/FastFloat.h"

namespace octavo::kernels::portable {

inline constexpr Isa kIsa = Isa::Portable;
inline constexpr bool kHasMultiplyAdd = false;
inline constexpr bool kHasLookup = false;

OCTAVO_INLINE U8 narrow(const U32 (&x)[4]) { return narrowGeneric(x); }
OCTAVO_INLINE U16 upperHalves(F32 a, F32 b) { return upperHalvesGeneric(a, b); }
OCTAVO_INLINE U8 narrowWords(U16 a, U16 b) { return narrowWordsGeneric(a, b); }
OCTAVO_INLINE void widenBytes(const std::uint8_t* from, U16 (&words)[2]) {
  widenBytesGeneric(from, words);
}
OCTAVO_INLINE U32 loadTriples(const std::uint8_t* from) { return loadTriplesGeneric(from); }
OCTAVO_INLINE void storeTriples(std::uint8_t* to, U32 x) { storeTriplesGeneric(to, x); }
OCTAVO_INLINE bool anySet(U32 mask) { return __builtin_reduce_or(mask) != 0; }
OCTAVO_INLINE bool anyNan(const U32 (&x)[4]) {
  U32 greatest = x[0] & kAbs;
  for (int i = 1; i < 4; ++i)
    greatest = maximum(greatest, x[i] & kAbs);
  return __builtin_reduce_max(greatest) > kInfinity;
}
OCTAVO_INLINE void finishStreaming() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

using FastFloat = FastFloatGeneric;
using E2M1ByTable = NoE2M1ByTable;

} // namespace octavo::kernels::portable

#include "octavo/Kernels/generic/Decode.h"

namespace octavo::kernels::portable {

template <typename Use> OCTAVO_INLINE void withDecodeStep(const DecodePlan& plan, Use use) {
  use(DecodeByTable{plan});
}

} // namespace octavo::kernels::portable
