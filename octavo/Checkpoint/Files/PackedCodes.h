// Packed codes narrower than a byte: a little-endian bit stream, code i in bits [i * width, (i + 1)
// * width). 4 bits give two codes a byte, the first in the low nibble; 6 bits give four codes in
// three bytes. Every producer that stores such codes uses this order, except for
// ElementShape::HighFirst.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace octavo::checkpoint {

/// Bytes that `count` codes of `width` bits occupy, rounded up.
std::uint64_t packedBytes(std::uint64_t count, int width);

/// Unpacks `count` codes to one code a byte. `packed` has packedBytes(count, width) bytes; width is
/// 1..8.
std::vector<std::byte> unpackCodes(std::span<const std::byte> packed, int width,
                                   std::uint64_t count);

/// Packs codes of one byte each. Bits above the width are dropped; unused bits of the last byte are
/// 0.
std::vector<std::byte> packCodes(std::span<const std::byte> codes, int width);

} // namespace octavo::checkpoint
