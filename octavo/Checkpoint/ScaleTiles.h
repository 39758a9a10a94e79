// The order in which cuBLAS reads scales of blocks: tiles of 128 rows and 4 columns, row of tiles
// after row of tiles, each tile as [row % 32][row / 32][column]. A grid that does not fill its last
// tiles is padded (cuBLAS documentation, "1D block scaling factors layout").
#pragma once

#include <array>
#include <cstdint>

namespace octavo::checkpoint {

inline constexpr std::int64_t kTileRows = 128, kTileColumns = 4;
inline constexpr std::int64_t kTileScales = kTileRows * kTileColumns;

/// Rows and columns with the padding.
constexpr std::array<std::int64_t, 2> paddedToTiles(std::int64_t rows, std::int64_t columns) {
  return {(rows + kTileRows - 1) / kTileRows * kTileRows,
          (columns + kTileColumns - 1) / kTileColumns * kTileColumns};
}

/// The place of a scale in the file's order, in a grid of so many columns.
constexpr std::int64_t placeInTiles(std::int64_t row, std::int64_t column, std::int64_t columns) {
  const std::int64_t tilesInRow = (columns + kTileColumns - 1) / kTileColumns;
  const std::int64_t tile = row / kTileRows * tilesInRow + column / kTileColumns;
  return tile * kTileScales + row % 32 * (kTileScales / 32) + row % kTileRows / 32 * kTileColumns +
         column % kTileColumns;
}

/// Whether a place of the file's order is padding of a grid of these extents.
constexpr bool isPadding(std::int64_t place, std::int64_t rows, std::int64_t columns) {
  const std::int64_t tilesInRow = (columns + kTileColumns - 1) / kTileColumns;
  const std::int64_t tile = place / kTileScales, within = place % kTileScales;
  const std::int64_t row =
      tile / tilesInRow * kTileRows + within % 16 / kTileColumns * 32 + within / 16;
  return row >= rows || tile % tilesInRow * kTileColumns + within % kTileColumns >= columns;
}

} // namespace octavo::checkpoint
