// The largest magnitude, found on the bits of f32: as unsigned integers they have the order of the
// magnitudes, with NaN above Inf.
#pragma once

#include "octavo/Kernels/generic/Rounding.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

template <typename Source> static std::uint32_t amaxBits(const void* values, std::size_t n) {
  const auto* from = static_cast<const typename Source::Element*>(values);
  U32 greatest[4] = {};
  std::size_t i = 0;
  for (; i + kStep <= n; i += kStep)
    for (int j = 0; j < 4; ++j)
      greatest[j] = maximum(greatest[j], Source::load(from + i + j * kLanes) & kAbs);
  for (; i < n; i += kLanes) {
    typename Source::Element rest[kLanes] = {};
    const std::size_t count = n - i < kLanes ? n - i : kLanes;
    __builtin_memcpy(rest, from + i, count * sizeof(*from));
    greatest[0] = maximum(greatest[0], Source::load(rest) & kAbs);
  }
  return __builtin_reduce_max(
      maximum(maximum(greatest[0], greatest[1]), maximum(greatest[2], greatest[3])));
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
