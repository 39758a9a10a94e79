// The parts of products of the portable set: vectors of 16 bytes in the compiler's own operations.
#pragma once

#define OCTAVO_KERNELS_ISA portable
#define OCTAVO_KERNELS_VECTOR_BYTES 16
#include "octavo/Kernels/Product/ProductKernels.h"
#include "octavo/Kernels/generic/Pick.h"
#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::portable {

inline constexpr Isa kProductIsa = Isa::Portable;
inline constexpr int kTallest = 4;
inline constexpr int kFloatTallest = 4;
inline constexpr int kPanelsOfTile = 1;
/// Of 16 registers of 16 bytes, beside 4 columns and a row.
inline constexpr int kPlainRows = 2, kPlainSums = 8;
inline constexpr bool kSumsInRegisters = false;
inline constexpr bool kSumsBytesIn16 = false;

using I16 = VectorOf<std::int16_t, 2 * kLanes>;

template <typename V> OCTAVO_INLINE void pin(V&) {}
OCTAVO_INLINE void pinScale(U32&) {}

OCTAVO_INLINE U8 broadcast(const std::byte* from) {
  std::uint32_t word;
  __builtin_memcpy(&word, from, 4);
  return (U8)splat(word);
}

/// The sums of products of the lower and the upper halves of dwords. Widening first makes each
/// product one 16 by 16 bit multiplication.
OCTAVO_INLINE I32 sumOfProducts(I16 a, I16 b) {
  const I32 x = (I32)a, y = (I32)b;
  return (x << 16 >> 16) * (y << 16 >> 16) + (x >> 16) * (y >> 16);
}

struct BytesDot {
  using Sum = I32;
  static constexpr int kDepth = 4, kAtOnce = 1;
  static OCTAVO_INLINE U8 row(const std::byte* from) { return broadcast(from); }
  static OCTAVO_INLINE Sum begin(std::uint32_t correction) { return (I32)splat(correction); }
  static OCTAVO_INLINE void step(Sum& sum, const U8 (&column)[1], const U8 (&row)[1]) {
    const I16 even = (I16)((U16)column[0] & 0xFF), odd = (I16)((U16)column[0] >> 8);
    const I16 words = (I16)row[0];
    sum += sumOfProducts(even, (I16)((U16)words << 8) >> 8) + sumOfProducts(odd, words >> 8);
  }
  static OCTAVO_INLINE I32 end(Sum sum, U32) { return sum; }
  /// 256 times a sum that began from 0.
  static OCTAVO_INLINE U32 end256(Sum sum) { return (U32)sum << 8; }
};
using BytesWrappedDot = BytesDot;
using BytesInPairsDot = BytesDot;

struct WordsDot {
  using Sum = I32;
  static constexpr int kDepth = 2, kAtOnce = 1;
  static OCTAVO_INLINE U8 row(const std::byte* from) { return broadcast(from); }
  static OCTAVO_INLINE Sum begin(std::uint32_t) { return Sum{}; }
  static OCTAVO_INLINE void step(Sum& sum, const U8 (&column)[1], const U8 (&row)[1]) {
    sum += sumOfProducts((I16)column[0], (I16)row[0]);
  }
  static OCTAVO_INLINE I32 end(Sum sum, U32) { return sum; }
};

/// The entries of 64 that 16 codes name.
struct CodeTable {
  const std::int8_t* entries;
  explicit OCTAVO_INLINE CodeTable(const std::int8_t* entries) : entries(entries) {}
  OCTAVO_INLINE U8 operator()(U8 codes) const {
    U8 named;
    for (int i = 0; i < 16; ++i)
      named[i] = static_cast<std::uint8_t>(entries[codes[i]]);
    return named;
  }
};

/// E2M1 codes to twice their value plus 12: an integer of three bits e, s for the magnitude is
/// s << e for e = 0, else (2 + s) << (e - 1).
struct NibbleTable {
  OCTAVO_INLINE U8 low(U8 codes) const {
    const U8 magnitude = codes & 7;
    const U8 above4 = (U8)(magnitude > 4), above6 = (U8)(magnitude > 6);
    const U8 value = magnitude + (above4 & (magnitude - 4)) + (above6 & 2);
    const U8 negative = (U8)((codes & 8) != 0);
    return 12 + ((value ^ negative) - negative);
  }
  OCTAVO_INLINE U8 high(U8 codes) const { return low(codes >> 4); }
};

OCTAVO_INLINE F32 halvesToFloats(VectorOf<std::int16_t, kLanes> halves) {
  return __builtin_convertvector((VectorOf<_Float16, kLanes>)halves, F32);
}
OCTAVO_INLINE F32 multiplyAdd(F32 sum, F32 b, F32 a) { return sum + b * a; }

} // namespace octavo::kernels::portable
