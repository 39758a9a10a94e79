// Matrices of items of a few bytes that are read across their rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace octavo::checkpoint {

/// Columns `begin` to `end` of a matrix [height, width] of items of `size` bytes, one after
/// another: rows `begin` to `end` of its transpose.
void gatherColumns(const std::byte* matrix, std::int64_t height, std::int64_t width,
                   std::int64_t begin, std::int64_t end, std::size_t size,
                   std::vector<std::byte>& columns);

} // namespace octavo::checkpoint
