#include "octavo/Checkpoint/ColumnWindow.h"

#include "octavo/Checkpoint/ByteMatrix.h"

#include <algorithm>
#include <span>

namespace octavo::checkpoint {

/// Bytes of a window. Each row of a window is one read request; strips of some KiB a row keep the
/// number of requests low.
static constexpr std::int64_t kWindowBytes = std::int64_t{4} << 20;

tl::expected<void, Error> ColumnWindow::read(const StoredMatrix& matrix, std::int64_t begin,
                                             std::int64_t end, std::vector<std::byte>& columns) {
  if (source != matrix.tensor.entry || offset != matrix.offset || begin < first || end > last)
    if (auto filled = fill(matrix, begin, end); !filled)
      return filled;
  gatherColumns(strips.data(), matrix.height, last - first, begin - first, end - first, matrix.size,
                columns);
  return {};
}

tl::expected<void, Error> ColumnWindow::fill(const StoredMatrix& matrix, std::int64_t begin,
                                             std::int64_t end) {
  const std::int64_t columnBytes =
      std::max<std::int64_t>(1, matrix.height * static_cast<std::int64_t>(matrix.size));
  const std::int64_t count =
      std::min(matrix.width - begin, std::max(end - begin, kWindowBytes / columnBytes));
  source = nullptr;
  const auto strip = static_cast<std::size_t>(count) * matrix.size;
  strips.resize(static_cast<std::size_t>(matrix.height) * strip);
  // Whole rows are contiguous in the file: one request reads all of them.
  const std::int64_t rows = count == matrix.width ? 1 : matrix.height;
  const std::size_t bytes =
      strips.size() / static_cast<std::size_t>(std::max<std::int64_t>(1, rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = static_cast<std::uint64_t>(row * matrix.width + begin) * matrix.size;
    const auto to = std::span(strips).subspan(static_cast<std::size_t>(row) * bytes, bytes);
    if (auto fetched = matrix.tensor.fetch(matrix.offset + at, to); !fetched)
      return fetched;
  }
  source = matrix.tensor.entry;
  offset = matrix.offset;
  first = begin;
  last = begin + count;
  return {};
}

} // namespace octavo::checkpoint
