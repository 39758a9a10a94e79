// Visits the bytes of a tensor in chunks, so that a whole tensor is never in memory.
#pragma once

#include "octavo/Checkpoint/Folder.h"

#include <tl/expected.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace octavo::checkpoint {

/// Bytes of a chunk. Divisible by 1 to 8, so no packed code and no number of any dtype is cut. A
/// chunk stays in the second-level cache while it is visited.
inline constexpr std::uint64_t kChunkBytes = 840 * 256;

/// Calls `visit(offset, bytes)` for chunks of bytes [begin, end) of a tensor, in order, until
/// `visit` returns false. `offset` counts from the tensor's first byte. Errors: reading the file.
template <typename Visit>
tl::expected<void, Error> forChunks(const StoredTensor& tensor, std::uint64_t begin,
                                    std::uint64_t end, const Visit& visit) {
  std::vector<std::byte> chunk;
  for (std::uint64_t at = begin; at < end; at += chunk.size()) {
    chunk.resize(std::min(end - at, kChunkBytes));
    if (auto fetched = tensor.fetch(at, chunk); !fetched)
      return fetched;
    if (!visit(at, std::span<const std::byte>(chunk)))
      break;
  }
  return {};
}

template <typename Visit>
/// The same for the whole tensor.
tl::expected<void, Error> forChunks(const StoredTensor& tensor, const Visit& visit) {
  return forChunks(tensor, 0, tensor.size(), visit);
}

} // namespace octavo::checkpoint
