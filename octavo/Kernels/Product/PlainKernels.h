// The kernels of one instruction set for products of plain f32, bf16 and int8. A kernel computes a
// tile of C and reads the left operand where it lies. PlainProduct.cpp has the loops around it.
#pragma once

#include "octavo/Kernels/Isa.h"

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// `steps` steps along K with contiguous elements in each row, which start `offset` bytes after the
/// row's pointer number `beginning`.
struct PlainPiece {
  std::int64_t beginning, offset, steps;
};

/// A tile of C: some rows by some panels. A step along K is a dword of each row and each column: an
/// f32, a pair of bf16 with the first in the lower half, or four int8. C is f32, or int32 bits.
struct PlainTileArguments {
  const std::byte* left = nullptr; ///< the first row
  std::ptrdiff_t leftStride = 0;   ///< bytes between rows
  const std::byte* right;          ///< the first panel, 16 dwords a step
  std::ptrdiff_t rightStride;      ///< bytes between panels
  std::ptrdiff_t rightStep = 0;    ///< PlainKernels::unpacked: bytes between steps
  std::int64_t rows = 0;           ///< equal to the index in PlainKernels::tiles, plus 1
  std::int64_t depth = 0;          ///< elements along K
  float* c = nullptr;
  std::ptrdiff_t stride = 0; ///< floats between rows of C
  bool startFromC = false;   ///< true: sums start from C; false: from +0
  /// The next part of a packed right side, which tiles of one panel prefetch: `aheadStep` bytes for
  /// each step, 0, 32 or 64.
  const std::byte* ahead = nullptr;
  std::ptrdiff_t aheadStep = 0;
  /// PlainKernels::pieced, in place of `left`, `leftStride` and `depth`: pointers to the pieces.
  /// Piece number b of the tile's row r begins at beginnings[b * beginningStride + r].
  const std::byte* const* beginnings = nullptr;
  std::ptrdiff_t beginningStride = 0;
  const PlainPiece* pieces = nullptr;
  std::int64_t pieceCount = 0;
};
using PlainTile = void(const PlainTileArguments&);

inline constexpr int kMostPlainRows = 32, kMostPlainPanels = 3;

struct PlainKernels {
  Isa isa;
  /// int8: an offset that kernels add to elements of the right side. C must start from minus the
  /// offset times the sum of the left row.
  std::int32_t columnOffset;
  /// K may be cut at multiples of depthUnit without changing bits.
  std::int64_t depthUnit = 2;
  int tallest;                                        ///< rows of the tallest tile
  int panels[kMostPlainRows];                         ///< panels of the widest tile, by rows - 1
  PlainTile* tiles[kMostPlainRows][kMostPlainPanels]; ///< [rows - 1][panels - 1]
  /// The same for an unpacked right side: 16 adjacent columns per step, steps `rightStep` bytes
  /// apart. Null unless a dword is one element.
  PlainTile* unpacked[kMostPlainRows][kMostPlainPanels];

  /// The same for rows in pieces, f32 only.
  PlainTile* pieced[kMostPlainRows][kMostPlainPanels];

  /// bf16 on sets without bf16 tiles: widen an operand, which is then multiplied as f32. Tiles that
  /// widen while they multiply pay only for few rows. Null if tiles multiply bf16 directly.
  void (*widenRow)(const std::uint16_t* row, std::int64_t n, float* to);
  void (*widenPanel)(const std::byte* panel, std::int64_t steps, float* to);
};

} // namespace octavo::kernels
