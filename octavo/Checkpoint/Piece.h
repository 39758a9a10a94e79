// Piece: a range of rows that is processed at a time, and the memory of one thread for it.
#pragma once

#include "octavo/Checkpoint/ColumnWindow.h"
#include "octavo/Checkpoint/Files/PageBuffer.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace octavo::checkpoint {

/// Values of a piece at most, unless a row of blocks has more. One piece writes some MiB, enough
/// for a disk request. The bound depends on neither machine nor options, so sums over pieces do not
/// either.
inline constexpr std::int64_t kPieceValues = std::int64_t{1} << 22;

/// Values of a tile at most, unless a row of blocks has more: as f32 and as codes they stay in the
/// second-level cache from one loop to the next.
inline constexpr std::int64_t kTileValues = std::int64_t{1} << 15;

/// Rows [begin, end).
struct Piece {
  std::int64_t begin, end;
};

/// Input bytes of one thread as the file stores them, reused from call to call.
struct Fetched {
  std::vector<std::byte> elements, scales; ///< stored bytes, row after row
  std::vector<std::byte> tiles;            ///< scales in the order of the file: Tiles or Parts
  ColumnWindow elementColumns, scaleColumns;
};

/// Buffers of one thread, reused from piece to piece.
struct Scratch {
  Fetched fetched;
  std::vector<float> values, restored; ///< values, and a second set to compare with
  std::vector<std::byte> codes, scales;
  PageBuffer stored; ///< stored bytes that a piece writes
};

} // namespace octavo::checkpoint
