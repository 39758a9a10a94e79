// The order in which cuBLAS reads block scales: tiles of 128 rows and 4 columns, row-major over the
// tiles. Within a tile the order is [row % 32][row / 32][column]. A grid that does not fill its
// last tiles is padded (cuBLAS documentation, "1D block scaling factors layout").
#pragma once

#include <array>
#include <cstdint>

namespace octavo::checkpoint {

inline constexpr std::int64_t kTileRows = 128, kTileColumns = 4;
inline constexpr std::int64_t kTileScales = kTileRows * kTileColumns;

/// Rows and columns of the grid, rounded up to whole tiles.
constexpr std::array<std::int64_t, 2> paddedToTiles(std::int64_t rows, std::int64_t columns) {
  return {(rows + kTileRows - 1) / kTileRows * kTileRows,
          (columns + kTileColumns - 1) / kTileColumns * kTileColumns};
}

/// The index in the file of the scale at (row, column), in a grid of `columns` columns.
constexpr std::int64_t placeInTiles(std::int64_t row, std::int64_t column, std::int64_t columns) {
  const std::int64_t tilesInRow = (columns + kTileColumns - 1) / kTileColumns;
  const std::int64_t tile = row / kTileRows * tilesInRow + column / kTileColumns;
  return tile * kTileScales + row % 32 * (kTileScales / 32) + row % kTileRows / 32 * kTileColumns +
         column % kTileColumns;
}

/// Whether index `place` of the file is padding, in a grid of `rows` rows and `columns` columns.
constexpr bool isPadding(std::int64_t place, std::int64_t rows, std::int64_t columns) {
  const std::int64_t tilesInRow = (columns + kTileColumns - 1) / kTileColumns;
  const std::int64_t tile = place / kTileScales, within = place % kTileScales;
  const std::int64_t row =
      tile / tilesInRow * kTileRows + within % 16 / kTileColumns * 32 + within / 16;
  return row >= rows || tile % tilesInRow * kTileColumns + within % kTileColumns >= columns;
}

} // namespace octavo::checkpoint
