// Codes of less than a byte, packed: a little-endian bit stream, code i in the bits
// [i * width, (i + 1) * width). For 4 bits that is two codes a byte, the low nibble first; for 6
// bits four codes in three bytes (the order of every producer that stores them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace octavo::checkpoint {

/// Bytes that `count` codes of `width` bits take; the last byte may have bits left over.
std::uint64_t packedBytes(std::uint64_t count, int width);

/// One code a byte, from packed ones. `packed` has packedBytes(count, width) bytes, width is 1..8.
std::vector<std::byte> unpackCodes(std::span<const std::byte> packed, int width,
                                   std::uint64_t count);

/// Packed codes from one code a byte; bits above the width are dropped, bits left over are 0.
std::vector<std::byte> packCodes(std::span<const std::byte> codes, int width);

} // namespace octavo::checkpoint
