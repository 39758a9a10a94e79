// Reads a layer piece by piece: codes, scales, or values as f32.
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

/// Reads a layer by rows: [E, N, K] counts as E * N rows of K elements. A piece is a range of rows
/// that cuts no block (see pieceEnd), or that lies within one row of blocks.
class LayerReader {
public:
  /// Opens a reader. Errors: parts that are missing, whose shapes or dtypes disagree with the
  /// layer, or that octavo does not apply (Layer::unapplied); reading the outer scale. The layer
  /// must outlive the reader.
  static tl::expected<LayerReader, Error> open(const Layer& layer);

  /// Rows and columns of the whole layer, in elements.
  std::int64_t rows() const { return rowCount; }
  std::int64_t columns() const { return columnCount; }
  /// Extents of a block, in elements. The last block of an axis may be shorter.
  std::int64_t rowsInBlock() const { return blockRows; }
  std::int64_t columnsInBlock() const { return blockColumns; }
  /// Rows that share a grid of blocks: N, or E * N for a matrix or if a block spans the experts.
  std::int64_t rowsInMatrix() const { return matrixRows; }
  /// Number of scales in one row of blocks.
  std::int64_t scalesInRow() const { return gridColumns; }
  /// The end of the piece that begins at row `begin` (0, or the end of another piece). It has at
  /// most `most` rows, but at least one row of blocks. If one block spans all rows of a matrix, the
  /// piece may cut it: the scales then apply to each piece.
  std::int64_t pieceEnd(std::int64_t begin, std::int64_t most) const;

  /// The outer scale of the row's expert as a multiplier: a stored divisor x gives 1/x, rounded to
  /// f32. 1 if there is no outer scale.
  float outer(std::int64_t row = 0) const {
    return outerScales.size() == 1 ? outerScales[0]
                                   : outerScales[static_cast<std::size_t>(row / matrixRows)];
  }
  /// The stored outer scale if there is exactly one and it divides; else nullopt.
  std::optional<float> divisor() const { return storedDivisor; }
  /// Whether each expert has its own outer scale.
  bool hasOuterPerExpert() const { return outerScales.size() > 1; }

  // The functions that read rows [begin, end), a piece. `fetched` holds buffers that are reused
  // from call to call. Errors: reading the file.

  /// The codes, one a byte, row-major.
  tl::expected<void, Error> codes(std::int64_t begin, std::int64_t end, std::uint8_t* codes,
                                  Fetched& fetched,
                                  const kernels::Execution& execution = {.threads = 1}) const;
  /// The scales as codes of type.scale, row-major, type.scale->bytes() bytes each.
  tl::expected<void, Error> scales(std::int64_t begin, std::int64_t end, void* scales,
                                   Fetched& fetched) const;
  /// The values: code * scale * outer scale.
  tl::expected<void, Error> values(std::int64_t begin, std::int64_t end, float* values,
                                   Fetched& fetched,
                                   const kernels::Execution& execution = {.threads = 1}) const;

  /// Number of scales of the piece.
  std::int64_t scaleCount(std::int64_t begin, std::int64_t end) const;
  /// The bytes of the piece's scales in the tensor of Layer::scales. Precondition: the axes are not
  /// swapped, and the order is ScaleOrder::Rows.
  struct Range {
    std::uint64_t begin, size;
  };
  Range storedScales(std::int64_t begin, std::int64_t end) const;

  const Layer& layer() const { return *source; }

private:
  explicit LayerReader(const Layer& layer) : source(&layer) {}
  bool isSwapped() const { return source->storedAxes == StoredAxes::Swapped; }
  /// Whether the scales of each matrix are stored as [k, n]. If the grid has one row or one column,
  /// both orders have the same bytes.
  bool hasSwappedScales() const { return isSwapped() && gridRows > 1 && gridColumns > 1; }
  /// Whether each matrix is read separately: its axes are swapped, or it has its own outer scale.
  bool isReadByMatrix() const { return isSwapped() || hasOuterPerExpert(); }
  /// The row of the scale grid for element row `row`, counted over all matrices.
  std::int64_t gridRow(std::int64_t row) const {
    return row / matrixRows * gridRows + row % matrixRows / blockRows;
  }
  /// Fetch stored bytes of elements and scales, row after row. With swapped axes the rows must be
  /// of one matrix.
  tl::expected<void, Error> fetchElements(std::int64_t begin, std::int64_t end,
                                          Fetched& fetched) const;
  tl::expected<void, Error> fetchScales(std::int64_t begin, std::int64_t end,
                                        Fetched& fetched) const;
  tl::expected<void, Error> fetchTiles(std::int64_t begin, std::int64_t end,
                                       Fetched& fetched) const;
  tl::expected<void, Error> fetchParts(std::int64_t begin, std::int64_t end,
                                       Fetched& fetched) const;
  /// Whether codes must be unpacked to give one code a byte.
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
  /// Calls `read(from, to)` for each range that one read can serve; stops at an error.
  template <typename Read>
  tl::expected<void, Error> forMatrices(std::int64_t begin, std::int64_t end,
                                        const Read& read) const;

  const Layer* source;
  std::int64_t rowCount = 0, columnCount = 0;
  std::int64_t storedRows = 0; ///< of one matrix in the file: N, at least 1
  std::int64_t matrixRows = 0; ///< see rowsInMatrix(); at least 1
  std::int64_t blockRows = 0, blockColumns = 0;
  std::int64_t gridRows = 0, gridColumns = 0; ///< of one matrix
  std::size_t rowBytes = 0;                   ///< bytes of one row of stored elements
  std::vector<float> outerScales = {1.0f};    ///< multipliers: one, or one for each matrix
  std::optional<float> storedDivisor;
};

/// The numbers of a part as multipliers: 1/x, rounded to f32, if the part divides. Errors: reading
/// the file.
tl::expected<std::vector<float>, Error> multipliers(const Part& part);

} // namespace octavo::checkpoint
