// Reads columns of matrices that a file stores row by row.
#pragma once

#include "octavo/Checkpoint/Folder.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace octavo::checkpoint {

/// A row-major matrix [height, width] inside a tensor. Elements are `size` bytes.
struct StoredMatrix {
  StoredTensor tensor;  ///< holds the matrix
  std::uint64_t offset; ///< of the matrix from the tensor's first byte, in bytes
  std::int64_t height, width;
  std::size_t size; ///< bytes of an element
};

/// Reads columns through a window of some MiB, so that consecutive calls for adjacent columns read
/// the file once.
class ColumnWindow {
public:
  /// Copies columns [begin, end) of `matrix` to `columns`, one column after another. Errors:
  /// reading the file.
  tl::expected<void, Error> read(const StoredMatrix& matrix, std::int64_t begin, std::int64_t end,
                                 std::vector<std::byte>& columns);

private:
  /// Reads the columns from `begin` on that fit the window, at least up to `end`.
  tl::expected<void, Error> fill(const StoredMatrix& matrix, std::int64_t begin, std::int64_t end);

  const SafetensorsEntry* source = nullptr; ///< the tensor of `strips`; null: none
  std::uint64_t offset = 0;
  std::int64_t first = 0, last = 0;
  std::vector<std::byte> strips; ///< columns [first, last) of each row, row after row
};

} // namespace octavo::checkpoint
