// XLA's random bit generators: Threefry-2x32 with 20 rounds and Philox-4x32 with 10 (Salmon et al.,
// Parallel Random Numbers: As Easy as 1, 2, 3, 2011), on counters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace octavo::interpreter {

/// Random bits for a tensor of `shape`, row-major in XLA's layout, and the next state. `width` is
/// the number of bits of an element: 64, or at most 32 (the low bits of 32).
struct RandomBits {
  std::vector<std::uint64_t> state;
  std::vector<std::uint64_t> bits;
};

/// state: the key, the counter.
RandomBits threefryBits(std::span<const std::uint64_t> state, std::span<const std::int64_t> shape,
                        int width);

/// state: the key, the low 64 bits of the counter, its high 64 bits. A state of two words uses the
/// key as the high bits.
RandomBits philoxBits(std::span<const std::uint64_t> state, std::span<const std::int64_t> shape,
                      int width);

} // namespace octavo::interpreter
