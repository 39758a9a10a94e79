// Tiles of products of plain matrices over a part of C, for what has their right operand in panels
// of f32 or bf16: PlainProduct.cpp, and ExpandedProduct.cpp, which makes such panels on the way.
#pragma once

#include "octavo/Kernels/Product/PlainKernels.h"
#include "octavo/Kernels/Product/PlainProduct.h"
#include "octavo/Kernels/Product/ProductKernels.h"

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// The kernels of `isa`. Precondition: !whyNot(isa).
const PlainKernels& plainKernels(Isa isa, PlainType type);

/// Steps along K that are multiplied at once: those of a tile's panels, `width`, are twice what L1
/// holds, and stay near it for all rows. Cut at multiples of `unit`.
std::int64_t chunkOf(std::int64_t depth, int width, std::int64_t unit = 2);

/// A part of C: some rows, and the columns of some panels.
struct Part {
  std::int64_t rows, columns;
  float* c;
  std::ptrdiff_t stride;
  bool isBegun = false; ///< sums go on from C

  std::int64_t panels() const { return (columns + kPanelColumns - 1) / kPanelColumns; }
  /// Tiles of about the same height: one of few rows is slow.
  std::int64_t tiles(int tallest) const { return (rows + tallest - 1) / tallest; }
  std::int64_t firstRow(std::int64_t tile, std::int64_t tiles) const { return tile * rows / tiles; }
};

/// Runs a tile of C at `row` and `panel`: `arguments` say what is multiplied, and whether the right
/// side is packed.
void runTile(const PlainKernels& kernels, const Part& part, std::int64_t row, std::int64_t height,
             std::int64_t panel, int count, PlainTileArguments arguments);

} // namespace octavo::kernels
