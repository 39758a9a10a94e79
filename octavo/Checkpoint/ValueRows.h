// The values of a tensor as f32, row by row, whatever holds them: a plain tensor or a layer.
#pragma once

#include "octavo/Checkpoint/Doubts.h"
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Piece.h"
#include "octavo/Kernels/Widen.h"

#include <tl/expected.hpp>

#include <memory>
#include <optional>

namespace octavo::checkpoint {

/// The wide type that kernels read as such; nothing for other formats and for integers.
std::optional<kernels::WideType> wideType(const SafetensorsDtype& dtype);

/// The dtype that stores such values.
const SafetensorsDtype& plainDtype(kernels::WideType type);

/// [N, K] or [E, N, K] as rows of K values. Reading is for one thread a call.
class ValueRows {
public:
  virtual ~ValueRows() = default;

  std::span<const std::int64_t> shape() const { return extents; }
  std::int64_t columns() const { return extents.back(); }
  /// N.
  std::int64_t rowsInMatrix() const { return extents[extents.size() - 2]; }
  /// E * N.
  std::int64_t rows() const;

  /// Pieces begin at multiples of it in their matrix; 0: they are whole matrices.
  virtual std::int64_t step() const = 0;
  /// Rows of a piece, or of a part of one that lies within a step. `scratch` may lose what it has
  /// fetched and its codes. Errors: of reading the file.
  virtual tl::expected<void, Error> read(Piece piece, float* values, Scratch& scratch) const = 0;
  /// The largest |x| of a piece; NaN if there is one. `scratch` may lose its values, too.
  virtual tl::expected<float, Error> amax(Piece piece, Scratch& scratch) const;
  /// The type that the values are stored in; f32 of a layer's, which are computed.
  virtual const format::ElementFormat& inputType() const = 0;
  /// The tensor that is named where something is wrong with a value.
  virtual const StoredTensor& tensor() const = 0;

protected:
  explicit ValueRows(std::vector<std::int64_t> shape) : extents(std::move(shape)) {}

private:
  std::vector<std::int64_t> extents;
};

/// Precondition: the dtype has a wideType, the rank is 2 or 3. Swapped axes: the tensor is
/// [E, K, N].
std::shared_ptr<const ValueRows> plainRows(const StoredTensor& tensor,
                                           PlainAxes axes = PlainAxes::Same);
std::shared_ptr<const ValueRows> layerRows(const LayerReader& reader);
/// The same, of which reading fails at a scale that is doubtful and not allowed.
std::shared_ptr<const ValueRows> checkedRows(const LayerReader& reader, Doubts allowed);

/// Rows of a piece of at most `values` values that begins at multiples of `step` and of
/// rows.step() in its matrix (0: whole matrices); at least one such step.
std::int64_t rowsOf(const ValueRows& rows, std::int64_t step, std::int64_t values);

/// Rows of the tiles in which a piece is read: as many as make kTileValues, also where that is less
/// than a step of `rows`.
std::int64_t tileRowsOf(const ValueRows& rows, std::int64_t step);

/// Pieces of `rows` that begin at multiples of `step`, too, in their matrix (0: whole matrices); of
/// at most kPieceValues values where that leaves any.
std::vector<Piece> piecesOf(const ValueRows& rows, std::int64_t step = 1);

/// Values of the largest of the pieces.
std::int64_t mostValues(const ValueRows& rows, std::span<const Piece> pieces);

/// [rows, columns] to [columns, rows].
void transpose(const float* from, std::int64_t rows, std::int64_t columns, float* to);

/// What is said of element `index` (row-major) that a quantization refuses.
Error nonFiniteError(const ValueRows& rows, std::int64_t index, float value);

} // namespace octavo::checkpoint
