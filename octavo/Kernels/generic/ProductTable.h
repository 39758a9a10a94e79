// The set's table of product kernels. A set's Product.cpp includes this file last.
#pragma once

#include "octavo/Kernels/generic/ProductEpilogue.h"
#include "octavo/Kernels/generic/ProductInteger.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

template <typename DotKind, typename FinishBy, int kSteps, int kHeight>
constexpr void addTile(Tile* (&tiles)[kHeights][kMaxPanels]) {
  tiles[heightIndex(kHeight)][0] = integerTile<DotKind, FinishBy, kSteps, kHeight, 1>;
  tiles[heightIndex(kHeight)][1] = integerTile<DotKind, FinishBy, kSteps, kHeight, kPanelsOfTile>;
}

template <typename DotKind, typename FinishBy, int kSteps>
constexpr void addTiles(Tile* (&tiles)[kHeights][kMaxPanels]) {
  if constexpr (kTallest >= 6)
    addTile<DotKind, FinishBy, kSteps, 6>(tiles);
  addTile<DotKind, FinishBy, kSteps, 4>(tiles);
  addTile<DotKind, FinishBy, kSteps, 3>(tiles);
  addTile<DotKind, FinishBy, kSteps, 2>(tiles);
  addTile<DotKind, FinishBy, kSteps, 1>(tiles);
}

template <typename DotKind, int kSteps>
constexpr void addTilesByDoubles(Tile* (&tiles)[kHeights][kMaxPanels]) {
  if constexpr (kTallest >= 6)
    tiles[heightIndex(6)][0] = integerTileByDoubles<DotKind, kSteps, 6>;
  tiles[heightIndex(4)][0] = integerTileByDoubles<DotKind, kSteps, 4>;
  tiles[heightIndex(3)][0] = integerTileByDoubles<DotKind, kSteps, 3>;
  tiles[heightIndex(2)][0] = integerTileByDoubles<DotKind, kSteps, 2>;
  tiles[heightIndex(1)][0] = integerTileByDoubles<DotKind, kSteps, 1>;
}

template <typename DotKind> constexpr void addDot(ProductKernels& table, Dot dot) {
  constexpr int kSteps = 32 / DotKind::kDepth;
  auto& tiles = table.tiles[static_cast<int>(dot)];
  addTiles<DotKind, FinishByExponents, kSteps>(tiles[static_cast<int>(Finish::Exponents)][1]);
  addTiles<DotKind, FinishByFloats, kSteps>(tiles[static_cast<int>(Finish::Floats)][1]);
  addTiles<DotKind, FinishByFloats, kSteps / 2>(tiles[static_cast<int>(Finish::Floats)][0]);
  addTiles<DotKind, FinishByRounding, kSteps>(tiles[static_cast<int>(Finish::Rounded)][1]);
  addTiles<DotKind, FinishByRounding, kSteps / 2>(tiles[static_cast<int>(Finish::Rounded)][0]);
  addTilesByDoubles<DotKind, kSteps>(tiles[static_cast<int>(Finish::Doubles)][1]);
  addTilesByDoubles<DotKind, kSteps / 2>(tiles[static_cast<int>(Finish::Doubles)][0]);
}

template <typename DotKind, int kPieces, ScaleCodes kCodes, typename FinishBy>
constexpr void addDirect(Direct* (&direct)[kHeights], Direct* (&andExpand)[kHeights]) {
  if constexpr (kTallest >= 6) {
    direct[heightIndex(6)] = integerDirect<DotKind, kPieces, kCodes, FinishBy, 6, false>;
    andExpand[heightIndex(6)] = integerDirect<DotKind, kPieces, kCodes, FinishBy, 6, true>;
  }
  direct[heightIndex(4)] = integerDirect<DotKind, kPieces, kCodes, FinishBy, 4, false>;
  andExpand[heightIndex(4)] = integerDirect<DotKind, kPieces, kCodes, FinishBy, 4, true>;
  direct[heightIndex(3)] = integerDirect<DotKind, kPieces, kCodes, FinishBy, 3, false>;
  direct[heightIndex(2)] = integerDirect<DotKind, kPieces, kCodes, FinishBy, 2, false>;
  direct[heightIndex(1)] = integerDirect<DotKind, kPieces, kCodes, FinishBy, 1, false>;
}

template <int kPieces, ScaleCodes kCodes, typename FinishBy>
constexpr void addDigits(Direct* (&direct)[2]) {
  direct[0] = integerDigits<kPieces, kCodes, FinishBy, 1>;
  if constexpr (kSumsInRegisters && kVectorsOfPanel == 1)
    direct[1] = integerDigits<kPieces, kCodes, FinishBy, kDigitRows>;
}

template <NibbleKind kKind, int kPieces, ScaleCodes kCodes, typename FinishBy>
constexpr void addNibbles(ProductKernels& table) {
  constexpr int kind = static_cast<int>(kKind);
  addDirect<BytesDot, kPieces, kCodes, FinishBy>(table.direct[0][kind],
                                                 table.directAndExpand[0][kind]);
  if constexpr (kSumsBytesIn16 && kPieces == 1)
    addDirect<BytesWrappedDot, kPieces, kCodes, FinishBy>(table.direct[1][kind],
                                                          table.directAndExpand[1][kind]);
  // Digits' sums have 24 bits, and an E4M3 scale has 4.
  if constexpr (kCodes == ScaleCodes::E4M3)
    addDigits<kPieces, kCodes, FinishByRounding>(table.directDigits[kind]);
  else
    addDigits<kPieces, kCodes, FinishBy>(table.directDigits[kind]);
  table.expand[kPieces - 1][static_cast<int>(kCodes)] = expandNibbles<kPieces, kCodes>;
  table.nibblesToFloats[kPieces - 1][static_cast<int>(kCodes)] = nibblesToFloats<kPieces, kCodes>;
}

constexpr ProductKernels integerKernels() {
  ProductKernels table{};
  table.isa = kProductIsa;
  table.tallest = kTallest;
  table.panels = kPanelsOfTile;
  table.sumsInRegisters = kSumsInRegisters;
  table.integers = integersOfCodes;
  table.interleave[0] = interleaveTile<1>;
  table.interleave[1] = interleaveTile<2>;
  table.recordsToFloats[false] = recordsToFloats<false>;
  table.recordsToFloats[true] = recordsToFloats<true>;
  table.epilogue = epilogueKernels();
  addDot<BytesDot>(table, Dot::Bytes);
  if constexpr (kSumsBytesIn16) {
    addDot<BytesWrappedDot>(table, Dot::BytesWrapped);
    addDot<BytesInPairsDot>(table, Dot::BytesInPairs);
  }
  addDot<WordsDot>(table, Dot::Words);
  addNibbles<NibbleKind::Exponents32, 1, ScaleCodes::E8M0, FinishByExponents>(table);
  addNibbles<NibbleKind::Floats32, 1, ScaleCodes::E8M0, FinishByFloats>(table);
  addNibbles<NibbleKind::E8M0By16, 2, ScaleCodes::E8M0, FinishByFloats>(table);
  addNibbles<NibbleKind::E4M3By16, 2, ScaleCodes::E4M3, FinishByFloats>(table);
  return table;
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
