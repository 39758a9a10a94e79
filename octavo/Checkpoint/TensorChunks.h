// A tensor's bytes, some at a time: what looks at all of them needs no memory for all of them.
#pragma once

#include "octavo/Checkpoint/Folder.h"

#include <tl/expected.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace octavo::checkpoint {

/// Divisible by 1 to 8: packed codes of any width and numbers of any dtype are cut nowhere. What is
/// read stays in the second-level cache until it has been looked at.
inline constexpr std::uint64_t kChunkBytes = 840 * 256;

/// Calls `visit(offset, bytes)` for the bytes of a tensor from `begin` to `end`, in order, until it
/// returns false. Errors: of reading the file.
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
tl::expected<void, Error> forChunks(const StoredTensor& tensor, const Visit& visit) {
  return forChunks(tensor, 0, tensor.size(), visit);
}

} // namespace octavo::checkpoint
