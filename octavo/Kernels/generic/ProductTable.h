// Included last by a set's Product.cpp: the set's table of product kernels.
#pragma once

#include "octavo/Kernels/generic/ProductInteger.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

template <typename DotKind, typename FinishBy, int kSteps>
constexpr void addTiles(Tile* (&tiles)[kHeights][kMaxPanels]) {
  if constexpr (kTallest >= 6) {
    tiles[0][0] = integerTile<DotKind, FinishBy, kSteps, 6, 1>;
    tiles[0][1] = integerTile<DotKind, FinishBy, kSteps, 6, kPanelsOfTile>;
  }
  tiles[1][0] = integerTile<DotKind, FinishBy, kSteps, 4, 1>;
  tiles[1][1] = integerTile<DotKind, FinishBy, kSteps, 4, kPanelsOfTile>;
  tiles[2][0] = integerTile<DotKind, FinishBy, kSteps, 2, 1>;
  tiles[2][1] = integerTile<DotKind, FinishBy, kSteps, 2, kPanelsOfTile>;
  tiles[3][0] = integerTile<DotKind, FinishBy, kSteps, 1, 1>;
  tiles[3][1] = integerTile<DotKind, FinishBy, kSteps, 1, kPanelsOfTile>;
}

template <typename DotKind, int kSteps>
constexpr void addTilesByDoubles(Tile* (&tiles)[kHeights][kMaxPanels]) {
  if constexpr (kTallest >= 6)
    tiles[0][0] = integerTileByDoubles<DotKind, kSteps, 6>;
  tiles[1][0] = integerTileByDoubles<DotKind, kSteps, 4>;
  tiles[2][0] = integerTileByDoubles<DotKind, kSteps, 2>;
  tiles[3][0] = integerTileByDoubles<DotKind, kSteps, 1>;
}

template <typename DotKind> constexpr void addDot(ProductKernels& table, Dot dot) {
  constexpr int kSteps = 32 / DotKind::kDepth;
  auto& tiles = table.tiles[static_cast<int>(dot)];
  addTiles<DotKind, FinishByExponents, kSteps>(tiles[static_cast<int>(Finish::Exponents)][1]);
  addTiles<DotKind, FinishByFloats, kSteps>(tiles[static_cast<int>(Finish::Floats)][1]);
  addTiles<DotKind, FinishByFloats, kSteps / 2>(tiles[static_cast<int>(Finish::Floats)][0]);
  addTilesByDoubles<DotKind, kSteps>(tiles[static_cast<int>(Finish::Doubles)][1]);
  addTilesByDoubles<DotKind, kSteps / 2>(tiles[static_cast<int>(Finish::Doubles)][0]);
}

template <int kPieces, ScaleCodes kCodes> constexpr void addNibbles(ProductKernels& table) {
  constexpr int p = kPieces - 1;
  constexpr int c = static_cast<int>(kCodes);
  table.direct[p][c][1] = integerDirect<kPieces, kCodes, 4, 1>;
  table.direct[p][c][2] = integerDirect<kPieces, kCodes, 2, 1>;
  table.direct[p][c][3] = integerDirect<kPieces, kCodes, 1, 1>;
  table.directDigits[p][c] = integerDirect<kPieces, kCodes, kDigits, kDigits>;
  table.expand[p][c] = expandNibbles<kPieces, kCodes>;
}

constexpr ProductKernels integerKernels() {
  ProductKernels table{};
  table.isa = kProductIsa;
  table.tallest = kTallest;
  table.panels = kPanelsOfTile;
  addDot<BytesDot>(table, Dot::Bytes);
  if constexpr (kHasBytesInPairs)
    addDot<BytesInPairsDot>(table, Dot::BytesInPairs);
  addDot<WordsDot>(table, Dot::Words);
  addNibbles<1, ScaleCodes::E8M0>(table);
  addNibbles<2, ScaleCodes::E8M0>(table);
  addNibbles<2, ScaleCodes::E4M3>(table);
  return table;
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
