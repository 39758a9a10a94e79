#include "octavo/Checkpoint/ByteMatrix.h"

#include <algorithm>
#include <cstring>

namespace octavo::checkpoint {

void gatherColumns(const std::byte* matrix, std::int64_t height, std::int64_t width,
                   std::int64_t begin, std::int64_t end, std::size_t size,
                   std::vector<std::byte>& columns) {
  columns.resize(static_cast<std::size_t>((end - begin) * height) * size);
  // A tile of one-byte elements is 64 cache lines of 64 bytes.
  constexpr std::int64_t kTile = 64;
  for (std::int64_t y = 0; y < height; y += kTile)
    for (std::int64_t x = begin; x < end; x += kTile)
      for (std::int64_t i = x; i < std::min(end, x + kTile); ++i)
        for (std::int64_t j = y; j < std::min(height, y + kTile); ++j)
          std::memcpy(columns.data() + static_cast<std::size_t>((i - begin) * height + j) * size,
                      matrix + static_cast<std::size_t>(j * width + i) * size, size);
}

} // namespace octavo::checkpoint
