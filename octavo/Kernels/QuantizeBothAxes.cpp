#include "octavo/Kernels/QuantizeBothAxes.h"

#include "octavo/Kernels/Amax.h"
#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <optional>

namespace octavo::kernels {

/// A tile is some whole rows, or long pieces of them, a multiple of every block of a run: the first
/// copy reads them as they come, the second reads them from a cache, strip by strip. A transposed
/// copy's has as many rows as a transposition may: memory takes its rows in pieces that long, and
/// twice as long for pieces of 128 bytes.
static constexpr std::size_t kTileColumns = 8192;
static constexpr std::size_t kTileRows = 128;
/// Of a strip's codes before they are transposed: rows begin in different sets of the caches.
static constexpr std::size_t kScratchStride = kStripColumns + 64;

/// Scales (of one byte, or f32: the kernels know no others) of `rows` times `columns` to their
/// transpose.
template <typename Scale>
static void transposeScales(const std::byte* from, std::size_t fromStride, std::size_t rows,
                            std::size_t columns, std::byte* to, std::size_t toStride) {
  // Every column is a line of its own, which has to come from memory first.
  constexpr std::size_t kColumnsAhead = 32;
  for (std::size_t c = 0; c < columns; ++c) {
    if (c + kColumnsAhead < columns)
      __builtin_prefetch(to + (c + kColumnsAhead) * toStride * sizeof(Scale), 1);
    for (std::size_t r = 0; r < rows; ++r)
      std::memcpy(to + (c * toStride + r) * sizeof(Scale),
                  from + (r * fromStride + c) * sizeof(Scale), sizeof(Scale));
  }
}

namespace {

class BothAxes {
public:
  BothAxes(const float* values, std::span<const std::int64_t> shape, const QuantizeOptions& options,
           const ScaledCopy* rowwise, const ScaledCopy& columnwise, Layout layout,
           const Execution& execution)
      : values(values), shape(shape), options(options), rowwise(rowwise), columnwise(columnwise),
        layout(layout), execution(execution), table(kernelTable(execution.isa)),
        rows(static_cast<std::size_t>(shape[shape.size() - 2])),
        columns(static_cast<std::size_t>(shape.back())),
        rowBlock(rowwise ? static_cast<std::size_t>(rowwise->type.block.back()) : 1),
        columnBlock(static_cast<std::size_t>(columnwise.type.block[shape.size() - 2])) {
    matrices = 1;
    for (std::int64_t extent : shape.first(shape.size() - 2))
      matrices *= static_cast<std::size_t>(extent);
    stores = storesFor(matrices * rows * columns * (sizeof(float) + 1));
  }

  BothAxesReport run() {
    BothAxesReport report;
    if (matrices * rows * columns == 0)
      return report;
    if (!fitTiles() || !findOuterScales(report))
      return runApart();
    const std::size_t most = layout == Layout::Transposed ? kTransposedRows : kTileRows;
    const std::size_t tileRows =
        columnBlock < most ? most / columnBlock * columnBlock : columnBlock;
    const std::size_t rowTiles = (rows + tileRows - 1) / tileRows;
    const std::size_t columnTiles = (columns + kTileColumns - 1) / kTileColumns;
    forRanges(matrices * rowTiles * columnTiles, 1, execution,
              [&](std::size_t begin, std::size_t end) {
                Scratch scratch(layout == Layout::Transposed ? tileRows : 0,
                                (tileRows / columnBlock) * columnPlan.scaleBytes);
                for (std::size_t i = begin; i < end && !isRefused; ++i) {
                  const std::size_t row = i / columnTiles % rowTiles * tileRows;
                  const std::size_t column = i % columnTiles * kTileColumns;
                  quantizeTile({.matrix = i / columnTiles / rowTiles,
                                .row = row,
                                .column = column,
                                .rows = std::min(tileRows, rows - row),
                                .columns = std::min(kTileColumns, columns - column)},
                               scratch);
                }
              });
    report.rowwise.nonFinite = report.columnwise.nonFinite = nonFinite;
    if (isRefused)
      report.rowwise.refused = report.columnwise.refused = firstNonFinite();
    return report;
  }

private:
  struct Tile {
    std::size_t matrix, row, column, rows, columns;
  };

  /// The columnwise codes and scales of a strip before they are transposed.
  struct Scratch {
    Scratch(std::size_t tileRows, std::size_t scaleBytes)
        : codes(tileRows * kScratchStride), scales(tileRows ? scaleBytes * kStripColumns : 0) {}
    ThreadVector<std::uint8_t> codes;
    ThreadVector<std::byte> scales;
    /// Of a strip's columns and of those of the strip below.
    alignas(64) std::uint32_t amaxes[2][kStripColumns];
  };

  bool fitTiles() const {
    auto isOther = [&](const ScaledType& type) {
      return blockPlan(type, options, 1.0f).scale == BlockPlan::Scale::Other;
    };
    if (columnwise.type.block.back() != 1 || columnBlock > kTransposedRows ||
        isOther(columnwise.type))
      return false;
    return !rowwise ||
           (rowwise->type.block[shape.size() - 2] == 1 && std::has_single_bit(rowBlock) &&
            rowBlock * sizeof(float) >= static_cast<std::size_t>(table.vectorBytes) &&
            rowBlock <= kLargestRunBlock && !isOther(rowwise->type));
  }

  /// Makes the plans; false where infinities or NaN have a say in an outer scale.
  bool findOuterScales(BothAxesReport& report) {
    float amax = 0;
    if (columnwise.type.hasOuterScale || (rowwise && rowwise->type.hasOuterScale)) {
      amax = kernels::amax(WideType::F32, values, matrices * rows * columns, execution);
      if (!std::isfinite(amax))
        return false;
    }
    auto planOf = [&](const ScaledCopy& copy, QuantizeReport& facts) {
      const ScaledType& type = copy.type;
      if (type.hasOuterScale) {
        const auto outer = copy.outer
                               ? *copy.outer
                               : numerics::outerScale(*type.element, *type.scale, amax, options);
        facts.outer = outer.value;
        facts.outerInverse = outer.inverse;
      }
      return blockPlan(type, options, facts.outer, facts.outerInverse);
    };
    columnPlan = planOf(columnwise, report.columnwise);
    if (rowwise)
      rowPlan = planOf(*rowwise, report.rowwise);
    return true;
  }

  std::size_t placeOf(const Tile& tile) const {
    return (tile.matrix * rows + tile.row) * columns + tile.column;
  }

  void quantizeTile(const Tile& tile, Scratch& scratch) {
    if (rowwise)
      for (std::size_t r = 0; r < tile.rows; ++r)
        quantizeRow(tile, r);
    for (std::size_t c = 0; c < tile.columns; c += kStripColumns)
      quantizeStrip({.matrix = tile.matrix,
                     .row = tile.row,
                     .column = tile.column + c,
                     .rows = tile.rows,
                     .columns = std::min(kStripColumns, tile.columns - c)},
                    scratch);
  }

  /// The columnwise copy of a part of a tile that is as wide as a strip.
  void quantizeStrip(const Tile& part, Scratch& scratch) {
    const std::size_t blocks = (part.rows + columnBlock - 1) / columnBlock;
    const std::size_t blocksInColumn = (rows + columnBlock - 1) / columnBlock;
    const std::size_t firstBlock = part.row / columnBlock;
    const bool isTransposed = layout == Layout::Transposed;
    const std::size_t scaleBytes = columnPlan.scaleBytes;
    auto* scales = static_cast<std::byte*>(columnwise.scales);
    bool areAmaxesKnown = false;
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t at = placeOf(part) + b * columnBlock * columns;
      void* const to =
          isTransposed
              ? scratch.scales.data() + b * kStripColumns * scaleBytes
              : scales + ((part.matrix * blocksInColumn + firstBlock + b) * columns + part.column) *
                             scaleBytes;
      std::optional<StripsAhead> ahead;
      if (columnBlock % 4 == 0 && (b + 2) * columnBlock <= part.rows) {
        std::uint32_t (&below)[kStripColumns] = scratch.amaxes[(b + 1) % 2];
        std::ranges::fill(below, 0);
        ahead = StripsAhead{.values = values + at + columnBlock * columns,
                            .rows = columnBlock,
                            .columns = part.columns,
                            .amaxes = below};
      }
      count(table.quantizeStrip(
                columnPlan,
                {.values = values + at,
                 .stride = columns,
                 .rows = std::min(columnBlock, part.rows - b * columnBlock),
                 .columns = part.columns,
                 .width = 1,
                 .amaxes = scratch.amaxes[b % 2],
                 .areAmaxesKnown = areAmaxesKnown,
                 .ahead = ahead ? &*ahead : nullptr,
                 .finishesAhead = true,
                 .codes = isTransposed ? scratch.codes.data() + b * columnBlock * kScratchStride
                                       : columnwise.codes + at,
                 .codeStride = isTransposed ? kScratchStride : columns,
                 .scales = to,
                 .random =
                     columnwise.randomBits.empty() ? nullptr : columnwise.randomBits.data() + at,
                 .stream = nullptr,
                 .first = 0,
                 .stores = isTransposed ? Stores::Cached : stores}),
            !rowwise);
      areAmaxesKnown = ahead.has_value();
    }
    if (!isTransposed)
      return;
    table.transpose(
        {.from = scratch.codes.data(),
         .fromStride = kScratchStride,
         .rows = part.rows,
         .columns = part.columns,
         .to = columnwise.codes + (part.matrix * columns + part.column) * rows + part.row,
         .toStride = rows,
         .stores = stores});
    const auto transposed =
        scaleBytes == 1 ? transposeScales<std::uint8_t> : transposeScales<float>;
    transposed(scratch.scales.data(), kStripColumns, blocks, part.columns,
               scales + ((part.matrix * columns + part.column) * blocksInColumn + firstBlock) *
                            scaleBytes,
               blocksInColumn);
  }

  void quantizeRow(const Tile& tile, std::size_t r) {
    const std::size_t at = placeOf(tile) + r * columns;
    const std::size_t blocksInRow = (columns + rowBlock - 1) / rowBlock;
    const std::size_t row = tile.matrix * rows + tile.row + r;
    count(table.quantizeRun(
              rowPlan,
              {.values = values + at,
               .n = tile.columns,
               .block = rowBlock,
               .codes = rowwise->codes + at,
               .scales = static_cast<std::byte*>(rowwise->scales) +
                         (row * blocksInRow + tile.column / rowBlock) * rowPlan.scaleBytes,
               .random = rowwise->randomBits.empty() ? nullptr : rowwise->randomBits.data() + at,
               .stores = stores}),
          true);
  }

  /// The copies see the same values: those of one count.
  void count(std::int64_t found, bool counts) {
    if (found < 0)
      isRefused = true;
    else if (counts)
      nonFinite += found;
  }

  NonFiniteInput firstNonFinite() const {
    for (std::size_t i = 0;; ++i)
      if (!std::isfinite(values[i]))
        return {static_cast<std::int64_t>(i), values[i]};
  }

  /// One copy after the other.
  BothAxesReport runApart() {
    BothAxesReport report;
    const auto quantized = [&](const ScaledCopy& copy) {
      return copy.outer ? quantizeUnder(*copy.outer, values, shape, copy.type, options, copy.codes,
                                        copy.scales, copy.randomBits, execution)
                        : quantize(values, shape, copy.type, options, copy.codes, copy.scales,
                                   copy.randomBits, execution);
    };
    if (rowwise)
      report.rowwise = quantized(*rowwise);
    // Transposed, this finds the outer scale and what is refused; its codes have as much room.
    report.columnwise = quantized(columnwise);
    if (layout == Layout::Transposed && !report.columnwise.refused)
      transposeByStripes({report.columnwise.outer, report.columnwise.outerInverse});
    return report;
  }

  /// Rows of blocks are quantized once more, into memory of their own, and transposed from there.
  void transposeByStripes(const numerics::OuterScale& outer) {
    const ScaledType& type = columnwise.type;
    const auto bytes = static_cast<std::size_t>(type.scale->bytes());
    const auto width = static_cast<std::size_t>(type.block.back());
    const std::size_t gridColumns = (columns + width - 1) / width;
    const std::size_t gridRows = (rows + columnBlock - 1) / columnBlock;
    ThreadVector<std::uint8_t> codes(std::min(columnBlock, rows) * columns);
    ThreadVector<std::byte> scales(gridColumns * bytes);
    for (std::size_t stripe = 0; stripe < matrices * gridRows; ++stripe) {
      const std::size_t matrix = stripe / gridRows;
      const std::size_t first = stripe % gridRows * columnBlock;
      const std::size_t height = std::min(columnBlock, rows - first);
      const std::size_t at = (matrix * rows + first) * columns;
      ThreadVector<std::int64_t> part(shape.size(), 1);
      part[shape.size() - 2] = static_cast<std::int64_t>(height);
      part.back() = static_cast<std::int64_t>(columns);
      const auto random = columnwise.randomBits.empty()
                              ? std::span<const std::uint32_t>{}
                              : columnwise.randomBits.subspan(at, height * columns);
      if (type.hasOuterScale)
        quantizeUnder(outer, values + at, part, type, options, codes.data(), scales.data(), random,
                      execution);
      else
        quantize(values + at, part, type, options, codes.data(), scales.data(), random, execution);
      for (std::size_t r = 0; r < height; r += kTransposedRows)
        table.transpose({.from = codes.data() + r * columns,
                         .fromStride = columns,
                         .rows = std::min(kTransposedRows, height - r),
                         .columns = columns,
                         .to = columnwise.codes + matrix * rows * columns + first + r,
                         .toStride = rows,
                         .stores = stores});
      auto* to = static_cast<std::byte*>(columnwise.scales);
      for (std::size_t c = 0; c < gridColumns; ++c)
        std::memcpy(to + ((matrix * gridColumns + c) * gridRows + stripe % gridRows) * bytes,
                    scales.data() + c * bytes, bytes);
    }
  }

  const float* values;
  std::span<const std::int64_t> shape;
  const QuantizeOptions& options;
  const ScaledCopy* rowwise; ///< or null
  const ScaledCopy& columnwise;
  Layout layout;
  const Execution& execution;
  const KernelTable& table;
  std::size_t rows, columns, matrices;
  std::size_t rowBlock, columnBlock;
  Stores stores;
  BlockPlan rowPlan{}, columnPlan{};
  std::atomic<std::int64_t> nonFinite{0};
  std::atomic<bool> isRefused{false};
};

} // namespace

BothAxesReport quantizeBothAxes(const float* values, std::span<const std::int64_t> shape,
                                const QuantizeOptions& options, const ScaledCopy& rowwise,
                                const ScaledCopy& columnwise, Layout columnwiseLayout,
                                const Execution& execution) {
  assert(shape.size() >= 2);
  return BothAxes(values, shape, options, &rowwise, columnwise, columnwiseLayout, execution).run();
}

QuantizeReport quantizeTransposed(const float* values, std::span<const std::int64_t> shape,
                                  const QuantizeOptions& options, const ScaledCopy& copy,
                                  const Execution& execution) {
  assert(shape.size() >= 2);
  return BothAxes(values, shape, options, nullptr, copy, Layout::Transposed, execution)
      .run()
      .columnwise;
}

} // namespace octavo::kernels
