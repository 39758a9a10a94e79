// Floats that lanes name by numbers, one after the other: of sets that have no instruction for it.
#pragma once

#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// from[index] of each lane.
OCTAVO_INLINE F32 pick(const float* from, U32 index) {
  F32 picked;
  for (int i = 0; i < kLanes; ++i)
    picked[i] = from[index[i]];
  return picked;
}

/// Entries of 16 that the eight nibbles of each lane name.
struct NibbleFloats {
  const float* entries;
  explicit OCTAVO_INLINE NibbleFloats(const float* entries) : entries(entries) {}
  /// Of the lowest nibble first.
  OCTAVO_INLINE void get(U32 nibbles, F32 (&values)[8]) const {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      values[i] = pick(entries, nibbles >> (4 * i) & 15);
  }
};

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
