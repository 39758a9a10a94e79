// Random bits as XLA's generators give them: Threefry-2x32 with 20 rounds and Philox-4x32 with 10
// (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011), on counters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace octavo::interpreter {

/// Bits for a tensor of `shape` whose elements have `width` bits (64 or at most 32, which are the
/// low bits of 32), row-major, and the state for the next ones. The layout is XLA's.
struct RandomBits {
  std::vector<std::uint64_t> state;
  std::vector<std::uint64_t> bits;
};

/// state: key, counter.
RandomBits threefryBits(std::span<const std::uint64_t> state, std::span<const std::int64_t> shape,
                        int width);

/// state: key, the counter's low 64 bits, and its high ones: with two words, the key again.
RandomBits philoxBits(std::span<const std::uint64_t> state, std::span<const std::int64_t> shape,
                      int width);

} // namespace octavo::interpreter
