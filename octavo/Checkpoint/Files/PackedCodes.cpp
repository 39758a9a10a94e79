#include "octavo/Checkpoint/Files/PackedCodes.h"

#include <cassert>

namespace octavo::checkpoint {

std::uint64_t packedBytes(std::uint64_t count, int width) {
  // Eight codes occupy `width` bytes. This order of operations does not overflow for any count that
  // fits in memory.
  return count / 8 * width + (count % 8 * width + 7) / 8;
}

std::vector<std::byte> unpackCodes(std::span<const std::byte> packed, int width,
                                   std::uint64_t count) {
  assert(width >= 1 && width <= 8 && packed.size() == packedBytes(count, width));
  std::vector<std::byte> codes(count);
  const unsigned mask = (1u << width) - 1;
  unsigned buffer = 0;
  int available = 0;
  std::size_t next = 0;
  for (std::byte& code : codes) {
    if (available < width) {
      buffer |= std::to_integer<unsigned>(packed[next++]) << available;
      available += 8;
    }
    code = static_cast<std::byte>(buffer & mask);
    buffer >>= width;
    available -= width;
  }
  return codes;
}

std::vector<std::byte> packCodes(std::span<const std::byte> codes, int width) {
  assert(width >= 1 && width <= 8);
  std::vector<std::byte> packed;
  packed.reserve(packedBytes(codes.size(), width));
  const unsigned mask = (1u << width) - 1;
  unsigned buffer = 0;
  int filled = 0;
  for (std::byte code : codes) {
    buffer |= (std::to_integer<unsigned>(code) & mask) << filled;
    filled += width;
    if (filled >= 8) {
      packed.push_back(static_cast<std::byte>(buffer & 0xff));
      buffer >>= 8;
      filled -= 8;
    }
  }
  if (filled > 0)
    packed.push_back(static_cast<std::byte>(buffer & 0xff));
  return packed;
}

} // namespace octavo::checkpoint
