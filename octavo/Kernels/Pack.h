// Codes packed: a little-endian bit stream, as the OCP formats are stored. Two 4-bit codes a byte,
// the first in the low bits; four 6-bit codes in three bytes. These two widths have kernels.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <cstdint>

namespace octavo::kernels {

/// Bytes that n codes of `width` bits take packed.
constexpr std::size_t packedBytes(std::size_t n, int width) {
  return n / 8 * static_cast<std::size_t>(width) +
         (n % 8 * static_cast<std::size_t>(width) + 7) / 8;
}

/// n codes, one a byte, to packedBytes(n, width) bytes. `width` is 1 to 8; bits of a code above the
/// width are dropped, bits left over in the last byte are 0.
void pack(const std::uint8_t* codes, std::size_t n, int width, std::uint8_t* packed,
          const Execution& execution = {});

/// n codes, one a byte, from packedBytes(n, width) bytes. `width` is 1 to 8.
void unpack(const std::uint8_t* packed, std::size_t n, int width, std::uint8_t* codes,
            const Execution& execution = {});

} // namespace octavo::kernels
