// Philox 4x32-10, kLanes counters at a time: numerics::RandomStream::fill.
#pragma once

#include "octavo/Kernels/generic/Shuffle.h"
#include "octavo/Numerics/Philox.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// The high and low halves of a * multiplier.
struct WideProduct {
  U32 high, low;
};
OCTAVO_INLINE WideProduct multiplyWide(U32 a, std::uint32_t multiplier) {
  // Even lanes and odd ones apart: each product has two lanes' room.
  using U64 = VectorOf<std::uint64_t, kLanes / 2>;
  constexpr std::uint64_t kLow = 0xFFFFFFFF;
  const U64 even = ((U64)a & kLow) * multiplier;
  const U64 odd = ((U64)a >> 32) * multiplier;
  return {(U32)(even >> 32 | (odd & ~kLow)), (U32)((even & kLow) | odd << 32)};
}

/// Interleaves the lanes of the lower or upper halves of a and b.
template <int kHalf> struct LanesByTurns {
  static constexpr int index(int i) { return i % 2 * kLanes + kHalf * kLanes / 2 + i / 2; }
};
/// Interleaves pairs of lanes in the same way.
template <int kHalf> struct PairsByTurns {
  static constexpr int index(int i) {
    return i % 4 / 2 * kLanes + kHalf * kLanes / 2 + i / 4 * 2 + i % 2;
  }
};

/// The numbers of kLanes counters from `counter` on, whose low words do not wrap among them.
OCTAVO_INLINE void philoxLanes(const numerics::RandomStream& stream, std::uint64_t counter,
                               std::uint32_t* to) {
  std::uint32_t lanes[kLanes];
  for (int i = 0; i < kLanes; ++i)
    lanes[i] = static_cast<std::uint32_t>(counter) + static_cast<std::uint32_t>(i);
  U32 c0 = load<U32>(lanes);
  U32 c1 = splat(static_cast<std::uint32_t>(counter >> 32));
  U32 c2 = splat(static_cast<std::uint32_t>(stream.stream));
  U32 c3 = splat(static_cast<std::uint32_t>(stream.stream >> 32));
  auto k0 = static_cast<std::uint32_t>(stream.seed);
  auto k1 = static_cast<std::uint32_t>(stream.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const WideProduct a = multiplyWide(c0, 0xD2511F53u);
    const WideProduct b = multiplyWide(c2, 0xCD9E8D57u);
    c0 = b.high ^ c1 ^ k0;
    c1 = b.low;
    c2 = a.high ^ c3 ^ k1;
    c3 = a.low;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  // A counter's four words are neighbours.
  const U32 lower[2] = {shuffled<LanesByTurns<0>>(c0, c1), shuffled<LanesByTurns<1>>(c0, c1)};
  const U32 upper[2] = {shuffled<LanesByTurns<0>>(c2, c3), shuffled<LanesByTurns<1>>(c2, c3)};
  for (int half = 0; half < 2; ++half) {
    std::uint32_t* part = to + half * 2 * kLanes;
    store(part, shuffled<PairsByTurns<0>>(lower[half], upper[half]));
    store(part + kLanes, shuffled<PairsByTurns<1>>(lower[half], upper[half]));
  }
}

/// Numbers `first` to first + n - 1 of the stream.
static void fillRandom(const numerics::RandomStream& stream, std::uint64_t first,
                       std::uint32_t* numbers, std::size_t n) {
  constexpr std::uint64_t kStepNumbers = 4 * kLanes;
  std::uint32_t step[kStepNumbers];
  for (std::size_t i = 0; i < n;) {
    // Steps begin at multiples of their length, where no lane's low word wraps.
    const std::uint64_t begin = (first + i) & ~(kStepNumbers - 1);
    const auto skipped = static_cast<std::size_t>(first + i - begin);
    const std::size_t left = n - i;
    if (skipped == 0 && left >= kStepNumbers) {
      philoxLanes(stream, begin / 4, numbers + i);
      i += kStepNumbers;
      continue;
    }
    philoxLanes(stream, begin / 4, step);
    const std::size_t count = left < kStepNumbers - skipped ? left : kStepNumbers - skipped;
    __builtin_memcpy(numbers + i, step + skipped, count * sizeof(*numbers));
    i += count;
  }
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
