// Threefry 2x32-20: a counter-based generator (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers:
// As Easy as 1, 2, 3; SC 2011), JAX's default.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace octavo::numerics {

using ThreefryWords = std::array<std::uint32_t, 2>;

/// The two random numbers of `counter` under `key`: twenty rounds.
constexpr ThreefryWords threefry(ThreefryWords counter, ThreefryWords key) {
  constexpr std::uint32_t kParity = 0x1BD11BDA;
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const std::uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ kParity};
  std::uint32_t x0 = counter[0] + keys[0], x1 = counter[1] + keys[1];
  for (std::uint32_t group = 1; group <= 5; ++group) {
    for (int rotation : kRotations[(group + 1) % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += keys[group % 3];
    x1 += keys[(group + 1) % 3] + group;
  }
  return {x0, x1};
}

} // namespace octavo::numerics
