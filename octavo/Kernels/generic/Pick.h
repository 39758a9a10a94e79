// Table look-up of floats by lane, one lane after the other: for sets without such an instruction.
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

/// Looks up the eight nibbles of each lane in a table of 16 entries.
struct NibbleFloats {
  const float* entries;
  explicit OCTAVO_INLINE NibbleFloats(const float* entries) : entries(entries) {}
  /// The entries of the lowest nibbles come first.
  OCTAVO_INLINE void get(U32 nibbles, F32 (&values)[8]) const {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      values[i] = pick(entries, nibbles >> (4 * i) & 15);
  }
};

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
