// What one instruction set contributes to products of plain f32, bf16 and int8: a tile of C, the
// left operand read where it lies. The loops around it are in PlainProduct.cpp.
#pragma once

#include "octavo/Kernels/Isa.h"

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// Steps along K for which the elements of a row lie behind each other, `offset` bytes from the
/// beginnings of number `beginning`.
struct PlainPiece {
  std::int64_t beginning, offset, steps;
};

/// Some rows of C by some panels. A step along K is a dword of each row and each column: an f32, a
/// pair of bf16 whose first is the lower half, or four int8. C is f32, or the bits of int32.
struct PlainTileArguments {
  const std::byte* left = nullptr; ///< the first row
  std::ptrdiff_t leftStride = 0;   ///< bytes between rows
  const std::byte* right;          ///< the first panel, 16 dwords a step
  std::ptrdiff_t rightStride;      ///< bytes between panels
  std::ptrdiff_t rightStep = 0;    ///< bytes between steps, for tiles of a right side as it lies
  std::int64_t rows = 0;           ///< as the place in PlainKernels::tiles says
  std::int64_t depth = 0;          ///< of K
  float* c = nullptr;
  std::ptrdiff_t stride = 0; ///< floats between rows of C
  bool startFromC = false;   ///< sums go on from C; else from +0
  /// What is read later of a packed right side, and bytes of it for each step: 0, 32 or 64. Tiles
  /// of one panel ask for it early.
  const std::byte* ahead = nullptr;
  std::ptrdiff_t aheadStep = 0;
  /// For tiles of rows in pieces, in place of `left`, `leftStride` and `depth`: where each row
  /// begins, the first of the tile first, and from one beginning of a row to its next one.
  const std::byte* const* beginnings = nullptr;
  std::ptrdiff_t beginningStride = 0;
  const PlainPiece* pieces = nullptr;
  std::int64_t pieceCount = 0;
};
using PlainTile = void(const PlainTileArguments&);

inline constexpr int kMostPlainRows = 32, kMostPlainPanels = 3;

struct PlainKernels {
  Isa isa;
  /// Of int8: what is added to elements of the right side before they are multiplied, so that C has
  /// to begin with as much less: minus this times the sum of the row.
  std::int32_t columnOffset;
  /// K is cut at multiples of it, which changes no bits.
  std::int64_t depthUnit = 2;
  int tallest;                                        ///< rows of the tallest tile
  int panels[kMostPlainRows];                         ///< of the widest tile of 1, 2, ... rows
  PlainTile* tiles[kMostPlainRows][kMostPlainPanels]; ///< [rows - 1][panels - 1]
  /// The same for a right side as it lies, 16 columns beside each other `rightStep` bytes after the
  /// last step's. Null where a dword of it is not one element.
  PlainTile* unpacked[kMostPlainRows][kMostPlainPanels];

  /// The same for rows in pieces, of f32 alone.
  PlainTile* pieced[kMostPlainRows][kMostPlainPanels];

  /// Of bf16, where the tiles widen each operand as they go: worth it for few rows alone. Others
  /// are widened first, and multiplied as f32. Null where tiles take bf16 as they are.
  void (*widenRow)(const std::uint16_t* row, std::int64_t n, float* to);
  void (*widenPanel)(const std::byte* panel, std::int64_t steps, float* to);
};

} // namespace octavo::kernels
