// Columns of matrices that lie in a file row by row.
#pragma once

#include "octavo/Checkpoint/Folder.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace octavo::checkpoint {

/// A matrix [height, width] of items of `size` bytes, from byte `offset` of a tensor on.
struct StoredMatrix {
  StoredTensor tensor;
  std::uint64_t offset;
  std::int64_t height, width;
  std::size_t size;
};

/// Reads columns, some MiB of them at a time: who asks for the next few has them in memory.
class ColumnWindow {
public:
  /// Columns `begin` to `end`, one after another. Errors: of reading the file.
  tl::expected<void, Error> read(const StoredMatrix& matrix, std::int64_t begin, std::int64_t end,
                                 std::vector<std::byte>& columns);

private:
  tl::expected<void, Error> fill(const StoredMatrix& matrix, std::int64_t begin, std::int64_t end);

  const SafetensorsEntry* source = nullptr; ///< whose columns are here; null: none
  std::uint64_t offset = 0;
  std::int64_t first = 0, last = 0;
  std::vector<std::byte> strips; ///< of each row, the items of these columns
};

} // namespace octavo::checkpoint
