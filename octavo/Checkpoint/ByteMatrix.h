// Transposed access to matrices whose elements are a few bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace octavo::checkpoint {

/// Copies columns [begin, end) of the row-major matrix [height, width] to `columns`, one column
/// after another: rows [begin, end) of the transpose. Elements are `size` bytes. `columns` is
/// resized.
void gatherColumns(const std::byte* matrix, std::int64_t height, std::int64_t width,
                   std::int64_t begin, std::int64_t end, std::size_t size,
                   std::vector<std::byte>& columns);

} // namespace octavo::checkpoint
