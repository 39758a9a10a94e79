// ValueRows: the values of a plain tensor or of a layer as f32, row by row.
#pragma once

#include "octavo/Checkpoint/Doubts.h"
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Piece.h"
#include "octavo/Kernels/Widen.h"

#include <tl/expected.hpp>

#include <memory>
#include <optional>

namespace octavo::checkpoint {

/// The wide type of a dtype (F32, BF16, F16); nullopt for all others.
std::optional<kernels::WideType> wideType(const SafetensorsDtype& dtype);

/// The dtype that stores values of `type`.
const SafetensorsDtype& plainDtype(kernels::WideType type);

/// A tensor [N, K] or [E, N, K] as rows of K values. Several threads may read at the same time,
/// each with its own Scratch.
class ValueRows {
public:
  virtual ~ValueRows() = default;

  std::span<const std::int64_t> shape() const { return extents; }
  std::int64_t columns() const { return extents.back(); }
  /// N: rows of one matrix.
  std::int64_t rowsInMatrix() const { return extents[extents.size() - 2]; }
  /// All rows: E * N.
  std::int64_t rows() const;

  /// Rows: pieces begin at multiples of step() within their matrix. 0: pieces are whole matrices.
  virtual std::int64_t step() const = 0;
  /// Reads a piece, or a part of a piece that lies within one step, into `values`. May overwrite
  /// scratch.fetched and scratch.codes. Errors: reading the file.
  virtual tl::expected<void, Error> read(Piece piece, float* values, Scratch& scratch) const = 0;
  /// The largest |x| of a piece; NaN if there is a NaN. May overwrite scratch.values too. Errors:
  /// as read.
  virtual tl::expected<float, Error> amax(Piece piece, Scratch& scratch) const;
  /// The format in which the values are stored; f32 for a layer, whose values are computed.
  virtual const format::ElementFormat& inputType() const = 0;
  /// The tensor that errors about a value name.
  virtual const StoredTensor& tensor() const = 0;

protected:
  explicit ValueRows(std::vector<std::int64_t> shape) : extents(std::move(shape)) {}

private:
  std::vector<std::int64_t> extents;
};

/// Rows of a plain tensor. Precondition: the dtype has a wideType, the rank is 2 or 3. If axes are
/// Swapped, the tensor is [E, K, N] or [K, N].
std::shared_ptr<const ValueRows> plainRows(const StoredTensor& tensor,
                                           PlainAxes axes = PlainAxes::Same);
/// Rows of a layer. The layer must outlive the result.
std::shared_ptr<const ValueRows> layerRows(const LayerReader& reader);
/// Rows of a layer; read fails at a scale that is doubtful and not in `allowed`.
std::shared_ptr<const ValueRows> checkedRows(const LayerReader& reader, Doubts allowed);

/// Number of rows of a piece: at most `values` values, a multiple of `step` and of rows.step(), but
/// at least one such multiple. If either step is 0: a multiple of whole matrices.
std::int64_t rowsOf(const ValueRows& rows, std::int64_t step, std::int64_t values);

/// Number of rows of a tile within a piece: about kTileValues values. If a step of `rows` has more,
/// the tile is a divisor of that step.
std::int64_t tileRowsOf(const ValueRows& rows, std::int64_t step);

/// Splits `rows` into pieces that begin at multiples of `step` and of rows.step() within their
/// matrix (0: whole matrices). A piece has at most kPieceValues values, unless one step has more.
std::vector<Piece> piecesOf(const ValueRows& rows, std::int64_t step = 1);

/// Number of values of the largest piece.
std::int64_t mostValues(const ValueRows& rows, std::span<const Piece> pieces);

/// Writes the transpose of from [rows, columns] to `to` [columns, rows].
void transpose(const float* from, std::int64_t rows, std::int64_t columns, float* to);

/// The error for element `index` (row-major), whose value is not finite and cannot be quantized.
Error nonFiniteError(const ValueRows& rows, std::int64_t index, float value);

} // namespace octavo::checkpoint
