// Shuffles of two vectors with an order given by a formula.
#pragma once

#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// Lanes `At::index(i)` of a and b, as one row.
template <typename At, int... kLane> struct Shuffle {
  static OCTAVO_INLINE U32 of(U32 a, U32 b) {
    return __builtin_shufflevector(a, b, At::index(kLane)...);
  }
};
template <typename T, T... kValues> struct Sequence {
  template <typename At> using Shuffled = Shuffle<At, kValues...>;
};
template <typename At> OCTAVO_INLINE U32 shuffled(U32 a, U32 b) {
  return __make_integer_seq<Sequence, int, kLanes>::template Shuffled<At>::of(a, b);
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
