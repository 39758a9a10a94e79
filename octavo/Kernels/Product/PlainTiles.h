// Tiles of plain products over a part of C. PlainProduct.cpp uses them, and ExpandedProduct.cpp,
// which expands the right operand to f32 or bf16 panels during the product.
#pragma once

#include "octavo/Kernels/Product/PlainKernels.h"
#include "octavo/Kernels/Product/PlainProduct.h"
#include "octavo/Kernels/Product/ProductKernels.h"

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// The kernels of `isa`. Precondition: !whyNot(isa).
const PlainKernels& plainKernels(Isa isa, PlainType type);

/// The number of steps along K that are multiplied at a time, a multiple of `unit`. A chunk of the
/// `width` panels of a tile is twice the size of L1 and stays in a near cache for all rows.
std::int64_t chunkOf(std::int64_t depth, int width, std::int64_t unit = 2);

/// A part of C: consecutive rows, and the columns of consecutive panels.
struct Part {
  std::int64_t rows, columns;
  float* c;
  std::ptrdiff_t stride;
  bool isBegun = false; ///< true: sums start from C

  std::int64_t panels() const { return (columns + kPanelColumns - 1) / kPanelColumns; }
  /// The number of tiles of similar height: a tile of few rows would be slow.
  std::int64_t tiles(int tallest) const { return (rows + tallest - 1) / tallest; }
  std::int64_t firstRow(std::int64_t tile, std::int64_t tiles) const { return tile * rows / tiles; }
};

/// Runs the tile of `height` rows and `count` panels at `row` and `panel` of `part`. `arguments`
/// has the operands; the tile's place in C is filled in here.
void runTile(const PlainKernels& kernels, const Part& part, std::int64_t row, std::int64_t height,
             std::int64_t panel, int count, PlainTileArguments arguments);

} // namespace octavo::kernels
