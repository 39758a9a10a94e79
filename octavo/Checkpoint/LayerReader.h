// Values of a layer, in pieces: codes and scales as octavo has them, and f32.
#pragma once

#include "octavo/Checkpoint/Layer.h"
#include "octavo/Checkpoint/Piece.h"
#include "octavo/Kernels/Execution.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace octavo::checkpoint {

/// Reads a layer by rows: [E, N, K] counts as E * N rows of K. A piece is a range of rows that cuts
/// no block (see pieceEnd), or lies within one row of them.
class LayerReader {
public:
  /// Errors: parts missing, or whose shapes or dtypes do not agree with the layer's. The layer must
  /// outlive the reader.
  static tl::expected<LayerReader, Error> open(const Layer& layer);

  std::int64_t rows() const { return rowCount; }
  std::int64_t columns() const { return columnCount; }
  /// Extents of a block; the last one of an axis may be short.
  std::int64_t rowsInBlock() const { return blockRows; }
  std::int64_t columnsInBlock() const { return blockColumns; }
  /// Rows that share a grid of blocks: N, or E * N where a block spans the experts.
  std::int64_t rowsInMatrix() const { return matrixRows; }
  /// Scales of a row of blocks.
  std::int64_t scalesInRow() const { return gridColumns; }
  /// Where the piece ends that begins at row `begin` (0, or the end of another) and has at most
  /// `most` rows, but always a row of blocks. Blocks that span all rows are no bound: their scales
  /// count for each piece.
  std::int64_t pieceEnd(std::int64_t begin, std::int64_t most) const;

  /// The outer scale of a row's expert as it multiplies: a stored divisor x is 1 / x rounded to
  /// f32. 1 where there is none.
  float outer(std::int64_t row = 0) const {
    return outerScales.size() == 1 ? outerScales[0]
                                   : outerScales[static_cast<std::size_t>(row / matrixRows)];
  }
  /// The one outer scale as it is stored, where it divides; nothing where there is no such one.
  std::optional<float> divisor() const { return storedDivisor; }
  /// Whether experts have an outer scale each.
  bool hasOuterPerExpert() const { return outerScales.size() > 1; }

  // Reading a piece. `fetched` is memory that is kept from call to call. Errors: of reading the
  // file.

  /// The codes, one a byte, row-major.
  tl::expected<void, Error> codes(std::int64_t begin, std::int64_t end, std::uint8_t* codes,
                                  Fetched& fetched,
                                  const kernels::Execution& execution = {.threads = 1}) const;
  /// The scales: codes of type.scale, row-major, in containers of type.scale->bytes().
  tl::expected<void, Error> scales(std::int64_t begin, std::int64_t end, void* scales,
                                   Fetched& fetched) const;
  /// The values.
  tl::expected<void, Error> values(std::int64_t begin, std::int64_t end, float* values,
                                   Fetched& fetched,
                                   const kernels::Execution& execution = {.threads = 1}) const;

  /// Number of the scales of a piece.
  std::int64_t scaleCount(std::int64_t begin, std::int64_t end) const;
  /// Where they lie in the tensor of the layer's part, in bytes. Precondition: the axes are not
  /// swapped, and the scales lie row after row.
  struct Range {
    std::uint64_t begin, size;
  };
  Range storedScales(std::int64_t begin, std::int64_t end) const;

  const Layer& layer() const { return *source; }

private:
  explicit LayerReader(const Layer& layer) : source(&layer) {}
  bool isSwapped() const { return source->storedAxes == StoredAxes::Swapped; }
  /// Whether scales are [k, n] of each matrix; those of one row or column lie the same either way.
  bool hasSwappedScales() const { return isSwapped() && gridRows > 1 && gridColumns > 1; }
  /// Whether every matrix is read on its own: its rows lie across it, or have an outer scale.
  bool isReadByMatrix() const { return isSwapped() || hasOuterPerExpert(); }
  /// The row of the grid of scales, of all matrices, that a row's scales are.
  std::int64_t gridRow(std::int64_t row) const {
    return row / matrixRows * gridRows + row % matrixRows / blockRows;
  }
  /// Elements and scales row after row, as they are stored. Swapped axes: rows of one matrix.
  tl::expected<void, Error> fetchElements(std::int64_t begin, std::int64_t end,
                                          Fetched& fetched) const;
  tl::expected<void, Error> fetchScales(std::int64_t begin, std::int64_t end,
                                        Fetched& fetched) const;
  tl::expected<void, Error> fetchTiles(std::int64_t begin, std::int64_t end,
                                       Fetched& fetched) const;
  tl::expected<void, Error> fetchParts(std::int64_t begin, std::int64_t end,
                                       Fetched& fetched) const;
  /// Whether codes have to be unpacked to lie one a byte.
  bool unpacks() const { return source->elements.packed && source->type.element->width() < 8; }
  void unpackRows(const std::byte* packed, std::int64_t rows, std::uint8_t* codes,
                  const kernels::Execution& execution) const;
  tl::expected<void, Error> matrixCodes(std::int64_t begin, std::int64_t end, std::uint8_t* codes,
                                        Fetched& fetched,
                                        const kernels::Execution& execution) const;
  tl::expected<void, Error> matrixScales(std::int64_t begin, std::int64_t end, std::byte* scales,
                                         Fetched& fetched) const;
  tl::expected<void, Error> matrixValues(std::int64_t begin, std::int64_t end, float* values,
                                         Fetched& fetched,
                                         const kernels::Execution& execution) const;
  /// Calls `read(from, to)` for the ranges that may be read at once; stops at an error.
  template <typename Read>
  tl::expected<void, Error> forMatrices(std::int64_t begin, std::int64_t end,
                                        const Read& read) const;

  const Layer* source;
  std::int64_t rowCount = 0, columnCount = 0;
  std::int64_t storedRows = 0; ///< of one matrix in the file: N
  std::int64_t matrixRows = 0; ///< rows that share a grid: N, or E * N where blocks span experts
  std::int64_t blockRows = 0, blockColumns = 0;
  std::int64_t gridRows = 0, gridColumns = 0; ///< of one matrix
  std::size_t rowBytes = 0;                   ///< of elements
  std::vector<float> outerScales = {1.0f};    ///< one, or one a matrix
  std::optional<float> storedDivisor;
};

/// The numbers of a part, each as it multiplies: 1 / x rounded to f32 where x divides. Errors: of
/// reading the file.
tl::expected<std::vector<float>, Error> multipliers(const Part& part);

} // namespace octavo::checkpoint
