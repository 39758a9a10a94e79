// Packing of codes to a little-endian bit stream, as the OCP formats are stored: two 4-bit codes
// per byte, the first in the low bits; four 6-bit codes in three bytes. These widths have kernels.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <cstdint>

namespace octavo::kernels {

/// Bytes of `n` packed codes of `width` bits.
constexpr std::size_t packedBytes(std::size_t n, int width) {
  return n / 8 * static_cast<std::size_t>(width) +
         (n % 8 * static_cast<std::size_t>(width) + 7) / 8;
}

/// Packs `n` codes, one per byte, into packedBytes(n, width) bytes. `width` is 1 to 8. Bits of a
/// code above the width are dropped; unused bits of the last byte are 0.
void pack(const std::uint8_t* codes, std::size_t n, int width, std::uint8_t* packed,
          const Execution& execution = {});

/// Unpacks packedBytes(n, width) bytes to `n` codes, one per byte. `width` is 1 to 8.
void unpack(const std::uint8_t* packed, std::size_t n, int width, std::uint8_t* codes,
            const Execution& execution = {});

} // namespace octavo::kernels
