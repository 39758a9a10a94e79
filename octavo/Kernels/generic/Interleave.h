// Transposes rows of eight dwords to columns for tiles of products, by shuffles of two vectors,
// which the compiler maps to the set's instructions.
#pragma once

#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// Of kRows rows (an even number), two to a vector, and the dwords in the order column, row: those
/// from 16 * kPart on.
template <int kRows> struct Interleaving {
  using Sixteen = VectorOf<std::uint32_t, 16>;
  Sixteen pairs[kRows / 2];

  /// Where the lane's dword is when pairs up to kPair have been looked at and the others not: of
  /// `seen` the lane itself, of the pair 16 and more.
  template <int kPart, int kPair> static constexpr int from(int lane) {
    const int at = 16 * kPart + lane, row = at % kRows, column = at / kRows;
    const int place = row % 2 * 8 + column;
    if (row / 2 == kPair)
      return 16 + place;
    if (row / 2 > kPair)
      return -1;
    return kPair == 1 ? place : lane; // what is seen then is pair 0
  }
  template <int kPart, int kPair> OCTAVO_INLINE Sixteen with(Sixteen seen) const {
    const Sixteen both = __builtin_shufflevector(
        seen, pairs[kPair], from<kPart, kPair>(0), from<kPart, kPair>(1), from<kPart, kPair>(2),
        from<kPart, kPair>(3), from<kPart, kPair>(4), from<kPart, kPair>(5), from<kPart, kPair>(6),
        from<kPart, kPair>(7), from<kPart, kPair>(8), from<kPart, kPair>(9), from<kPart, kPair>(10),
        from<kPart, kPair>(11), from<kPart, kPair>(12), from<kPart, kPair>(13),
        from<kPart, kPair>(14), from<kPart, kPair>(15));
    if constexpr (kPair + 1 < kRows / 2)
      return with<kPart, kPair + 1>(both);
    else
      return both;
  }
  template <int kPart> OCTAVO_INLINE Sixteen part() const { return with<kPart, 1>(pairs[0]); }

  OCTAVO_INLINE void setPair(int pair, const void* first, const void* second) {
    using Eight = VectorOf<std::uint32_t, 8>;
    pairs[pair] = __builtin_shufflevector(load<Eight>(first), load<Eight>(second), 0, 1, 2, 3, 4, 5,
                                          6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
  /// Calls store(part, sixteen) for each part.
  template <int kPart = 0, typename Store> OCTAVO_INLINE void forParts(Store store) const {
    store(kPart, part<kPart>());
    if constexpr (kPart + 1 < kRows / 2)
      forParts<kPart + 1>(store);
  }
};

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
