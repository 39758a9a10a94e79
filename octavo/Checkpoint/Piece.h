// The rows that are worked on at a time, and a thread's memory for them.
#pragma once

#include "octavo/Checkpoint/ColumnWindow.h"
#include "octavo/Checkpoint/Files/PageBuffer.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace octavo::checkpoint {

/// Values of a piece of work, at most, unless a row of blocks has more: what is written of one
/// piece, some MiB, is worth a request to the disk. It does not depend on the machine or the
/// options, and neither do sums over pieces.
inline constexpr std::int64_t kPieceValues = std::int64_t{1} << 22;

/// Values that are computed together, at most, unless a row of blocks has more: as f32 and as codes
/// they stay in the second-level cache from one loop to the next.
inline constexpr std::int64_t kTileValues = std::int64_t{1} << 15;

/// A range of rows.
struct Piece {
  std::int64_t begin, end;
};

/// What one thread has read of the input, as that stores it; memory that is kept from call to call.
struct Fetched {
  std::vector<std::byte> elements, scales;
  std::vector<std::byte> tiles; ///< scales as they lie in tiles, or one a part
  ColumnWindow elementColumns, scaleColumns;
};

/// Memory of one thread, kept from piece to piece.
struct Scratch {
  Fetched fetched;
  std::vector<float> values, restored;
  std::vector<std::byte> codes, scales;
  PageBuffer stored; ///< what a piece writes
};

} // namespace octavo::checkpoint
