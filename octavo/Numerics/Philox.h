// Philox 4x32-10: a counter-based generator (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers:
// As Easy as 1, 2, 3; SC 2011). A number depends on seed, stream and index alone, so any thread can
// compute any part of a stream.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace octavo::numerics {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// The four random numbers of `counter` under `key`: ten rounds.
constexpr PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

/// A stream of random numbers. Each tensor quantized under a seed has a stream of its own.
struct RandomStream {
  std::uint64_t seed = 0;   ///< the key, low word first
  std::uint64_t stream = 0; ///< words 2 and 3 of the counter

  /// Number `index` of the stream: word index % 4 of counter index / 4 (words 0 and 1).
  constexpr std::uint32_t operator[](std::uint64_t index) const {
    return four(index / 4)[index % 4];
  }
  /// Numbers 4 * counter to 4 * counter + 3.
  constexpr PhiloxCounter four(std::uint64_t counter) const {
    return philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32),
                   static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
                  {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  }
  /// Numbers `first`, first + 1, ... of the stream.
  constexpr void fill(std::uint64_t first, std::span<std::uint32_t> numbers) const {
    for (std::size_t i = 0; i < numbers.size();) {
      const PhiloxCounter found = four((first + i) / 4);
      for (std::size_t word = (first + i) % 4; word < 4 && i < numbers.size(); ++word, ++i)
        numbers[i] = found[word];
    }
  }
};

} // namespace octavo::numerics
