#include "octavo/Checkpoint/ValueRows.h"

#include "octavo/Checkpoint/ScaleCheck.h"
#include "octavo/Kernels/Amax.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace octavo::checkpoint {

std::optional<kernels::WideType> wideType(const SafetensorsDtype& dtype) {
  if (dtype.name == format::element("f32").safetensors)
    return kernels::WideType::F32;
  if (dtype.name == format::element("bf16").safetensors)
    return kernels::WideType::Bf16;
  if (dtype.name == format::element("f16").safetensors)
    return kernels::WideType::F16;
  return std::nullopt;
}

const SafetensorsDtype& plainDtype(kernels::WideType type) {
  switch (type) {
  case kernels::WideType::F32:
    return *findSafetensorsDtype(format::element("f32").safetensors);
  case kernels::WideType::Bf16:
    return *findSafetensorsDtype(format::element("bf16").safetensors);
  case kernels::WideType::F16:
    break;
  }
  return *findSafetensorsDtype(format::element("f16").safetensors);
}

std::int64_t ValueRows::rows() const {
  return std::accumulate(extents.begin(), extents.end() - 1, std::int64_t{1}, std::multiplies<>());
}

tl::expected<float, Error> ValueRows::amax(Piece piece, Scratch& scratch) const {
  const std::int64_t tile = tileRowsOf(*this, 1);
  float greatest = 0;
  for (std::int64_t begin = piece.begin; begin < piece.end; begin += tile) {
    const Piece part{begin, std::min(begin + tile, piece.end)};
    const auto n = static_cast<std::size_t>((part.end - part.begin) * columns());
    scratch.values.resize(n);
    if (auto done = read(part, scratch.values.data(), scratch); !done)
      return tl::unexpected(std::move(done.error()));
    const float found =
        kernels::amax(kernels::WideType::F32, scratch.values.data(), n, {.threads = 1});
    if (!(found <= greatest)) // also NaN
      greatest = found;
    if (std::isnan(greatest))
      break;
  }
  return greatest;
}

namespace {

/// The shape [.., N, K] of the rows of `tensor`.
std::vector<std::int64_t> rowsShape(const StoredTensor& tensor, PlainAxes axes) {
  std::vector<std::int64_t> shape = tensor.entry->shape;
  if (axes == PlainAxes::Swapped)
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

class PlainRows final : public ValueRows {
public:
  PlainRows(const StoredTensor& tensor, PlainAxes axes)
      : ValueRows(rowsShape(tensor, axes)), stored(tensor), axes(axes),
        type(*wideType(*tensor.entry->dtype)) {}

  std::int64_t step() const override { return axes == PlainAxes::Same ? 1 : 0; }
  tl::expected<void, Error> read(Piece piece, float* values, Scratch& scratch) const override {
    return fetch(begin(piece), end(piece), scratch).map([&] {
      const auto n = static_cast<std::size_t>((piece.end - piece.begin) * columns());
      if (axes == PlainAxes::Same) {
        kernels::widen(type, scratch.fetched.elements.data(), values, n);
        return;
      }
      scratch.codes.resize(n * sizeof(float));
      auto* widened = reinterpret_cast<float*>(scratch.codes.data());
      kernels::widen(type, scratch.fetched.elements.data(), widened, n);
      transpose(widened, columns(), rowsInMatrix(), values);
    });
  }
  tl::expected<float, Error> amax(Piece piece, Scratch& scratch) const override {
    float greatest = 0;
    for (std::uint64_t at = begin(piece), last = end(piece); at < last && !std::isnan(greatest);) {
      // The maximum does not depend on the order, so swapped axes are read as stored.
      const std::uint64_t to = std::min<std::uint64_t>(last, at + kTileValues * 4);
      if (auto done = fetch(at, to, scratch); !done)
        return tl::unexpected(std::move(done.error()));
      const float found = kernels::amax(type, scratch.fetched.elements.data(),
                                        (to - at) / kernels::wideBytes(type), {.threads = 1});
      if (!(found <= greatest)) // also NaN
        greatest = found;
      at = to;
    }
    return greatest;
  }
  const format::ElementFormat& inputType() const override {
    return stored.entry->dtype->type->format();
  }
  const StoredTensor& tensor() const override { return stored; }

private:
  /// Reads bytes [begin, end) of the tensor into scratch.fetched.elements.
  tl::expected<void, Error> fetch(std::uint64_t begin, std::uint64_t end, Scratch& scratch) const {
    scratch.fetched.elements.resize(end - begin);
    return stored.fetch(begin, scratch.fetched.elements);
  }
  std::uint64_t rowBytes() const {
    return static_cast<std::uint64_t>(columns()) * kernels::wideBytes(type);
  }
  std::uint64_t begin(Piece piece) const {
    return static_cast<std::uint64_t>(piece.begin) * rowBytes();
  }
  std::uint64_t end(Piece piece) const {
    return static_cast<std::uint64_t>(piece.end) * rowBytes();
  }

  StoredTensor stored;
  PlainAxes axes;
  kernels::WideType type;
};

class LayerRows final : public ValueRows {
public:
  explicit LayerRows(const LayerReader& reader, std::optional<ScaleCheck> check = {})
      : ValueRows(reader.layer().shape), reader(reader), check(std::move(check)) {}

  std::int64_t step() const override {
    return reader.rowsInBlock() >= reader.rowsInMatrix() ? 1 : reader.rowsInBlock();
  }
  tl::expected<void, Error> read(Piece piece, float* values, Scratch& scratch) const override {
    if (check)
      if (auto done = (*check)(piece, scratch.fetched); !done)
        return done;
    return reader.values(piece.begin, piece.end, values, scratch.fetched);
  }
  const format::ElementFormat& inputType() const override { return format::element("f32"); }
  const StoredTensor& tensor() const override { return reader.layer().elements.tensor; }

private:
  LayerReader reader;
  std::optional<ScaleCheck> check;
};

} // namespace

void transpose(const float* from, std::int64_t rows, std::int64_t columns, float* to) {
  constexpr std::int64_t kTile = 32; // two tiles of f32 fit the first-level cache
  for (std::int64_t i = 0; i < rows; i += kTile)
    for (std::int64_t j = 0; j < columns; j += kTile)
      for (std::int64_t r = i; r < std::min(rows, i + kTile); ++r)
        for (std::int64_t c = j; c < std::min(columns, j + kTile); ++c)
          to[c * rows + r] = from[r * columns + c];
}

std::shared_ptr<const ValueRows> plainRows(const StoredTensor& tensor, PlainAxes axes) {
  return std::make_shared<PlainRows>(tensor, axes);
}

std::shared_ptr<const ValueRows> layerRows(const LayerReader& reader) {
  return std::make_shared<LayerRows>(reader);
}

std::shared_ptr<const ValueRows> checkedRows(const LayerReader& reader, Doubts allowed) {
  return std::make_shared<LayerRows>(reader, ScaleCheck(reader, allowed));
}

std::int64_t rowsOf(const ValueRows& rows, std::int64_t step, std::int64_t values) {
  const bool isWhole = rows.step() == 0 || step == 0;
  const std::int64_t inMatrix = std::max<std::int64_t>(1, rows.rowsInMatrix());
  const std::int64_t grain = isWhole ? inMatrix : std::lcm(rows.step(), step);
  const std::int64_t fit = values / std::max<std::int64_t>(1, rows.columns() * grain);
  return std::max<std::int64_t>(1, fit) * grain;
}

std::int64_t tileRowsOf(const ValueRows& rows, std::int64_t step) {
  const std::int64_t whole = rowsOf(rows, step, kTileValues);
  if (step == 0 || rows.step() == 0 || rows.step() % step != 0)
    return whole;
  // A tile shorter than a step of `rows` must divide the step: no tile may cross a step.
  std::int64_t tile = whole;
  for (std::int64_t shorter = rows.step(); shorter >= step && tile * rows.columns() > kTileValues;
       shorter -= step)
    if (rows.step() % shorter == 0)
      tile = shorter;
  return tile;
}

std::vector<Piece> piecesOf(const ValueRows& rows, std::int64_t step) {
  const std::int64_t inMatrix = std::max<std::int64_t>(1, rows.rowsInMatrix());
  const std::int64_t most = rowsOf(rows, step, kPieceValues);
  std::vector<Piece> pieces;
  for (std::int64_t begin = 0; begin < rows.rows();) {
    const std::int64_t matrixEnd = (begin / inMatrix + 1) * inMatrix;
    const std::int64_t end = std::min({begin + most, matrixEnd, rows.rows()});
    pieces.push_back({begin, end});
    begin = end;
  }
  return pieces;
}

std::int64_t mostValues(const ValueRows& rows, std::span<const Piece> pieces) {
  std::int64_t most = 0;
  for (const Piece& piece : pieces)
    most = std::max(most, (piece.end - piece.begin) * rows.columns());
  return most;
}

Error nonFiniteError(const ValueRows& rows, std::int64_t index, float value) {
  return {.file = rows.tensor().shard->name(),
          .problem = "has a value that cannot be quantized",
          .tensor = rows.tensor().name(),
          .expected = "finite numbers",
          .found = fmt::format("{} in row {}, column {}", value, index / rows.columns(),
                               index % rows.columns()),
          .fix = "exclude this tensor (--ignore), or repair it; block formats take --non-finite "
                 "saturate or propagate"};
}

} // namespace octavo::checkpoint
