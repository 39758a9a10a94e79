#include "octavo/Checkpoint/Jobs/ExactRecast.h"

#include "octavo/Checkpoint/BlocksWithValues.h"
#include "octavo/Checkpoint/ScaleCheck.h"
#include "octavo/Checkpoint/StoredCode.h"
#include "octavo/Checkpoint/ValueRows.h"
#include "octavo/Numerics/Conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace octavo::checkpoint {

using format::ElementFormat;

std::optional<std::array<std::uint8_t, 256>> codesWithValuesOf(const ElementFormat& from,
                                                               const ElementFormat& to) {
  std::array<std::uint8_t, 256> codes{};
  for (std::uint32_t code = 0; code < 1u << from.width(); ++code) {
    if (from == to) {
      codes[code] = static_cast<std::uint8_t>(code);
      continue;
    }
    const double value = numerics::decode(from, code);
    const std::uint64_t converted = numerics::convert(to, value);
    const double back = numerics::decode(to, converted);
    const bool isSame = std::isnan(value)
                            ? std::isnan(back)
                            : back == value && std::signbit(back) == std::signbit(value);
    if (!isSame)
      return std::nullopt;
    codes[code] = static_cast<std::uint8_t>(converted);
  }
  return codes;
}

namespace {

/// The scales of a piece times the outer scale. The products are exact in f64: at most 28 bits.
class PieceScales {
public:
  /// Errors: reading the file.
  static tl::expected<PieceScales, Error> read(const LayerReader& reader, Piece piece,
                                               Fetched& fetched) {
    PieceScales scales(reader, piece);
    const ElementFormat& scale = *reader.layer().type.scale;
    const auto width = static_cast<std::size_t>(scale.bytes());
    const auto count = static_cast<std::size_t>(reader.scaleCount(piece.begin, piece.end));
    std::vector<std::byte> codes(count * width);
    if (auto done = reader.scales(piece.begin, piece.end, codes.data(), fetched); !done)
      return tl::unexpected(std::move(done.error()));
    scales.values.resize(count);
    const double outer = reader.outer(piece.begin); // a piece lies in one matrix
    for (std::size_t i = 0; i < count; ++i)
      scales.values[i] = numerics::decode(scale, codeAt(scale, codes.data() + i * width)) * outer;
    return scales;
  }
  std::span<const double> all() const { return values; }
  /// The scale of the block at this place. Precondition: the place lies in the piece.
  double at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>((row - piece.begin) / reader->rowsInBlock() *
                                               reader->scalesInRow() +
                                           column / reader->columnsInBlock())];
  }

private:
  PieceScales(const LayerReader& of, Piece piece) : reader(&of), piece(piece) {}

  const LayerReader* reader;
  Piece piece;
  std::vector<double> values;
};

/// The code of a scale; nullopt if the format does not have it.
std::optional<std::uint64_t> codeOf(const ElementFormat& format, double scale) {
  const std::uint64_t code = numerics::convert(format, scale);
  const double back = numerics::decode(format, code);
  const bool isSame = back == scale || (std::isnan(back) && std::isnan(scale));
  return isSame ? std::optional(code) : std::nullopt;
}

/// The smallest positive scale of a signed format.
double leastScale(const ElementFormat& format) { return numerics::decode(format, 1); }

/// Whether each block of `plan` lies within one block of the layer.
bool refines(const LayerReader& reader, const LayerPlan& plan) {
  const auto along = [](std::int64_t of, std::int64_t within, std::int64_t extent) {
    return within >= extent || within % of == 0;
  };
  const bool isOfExperts = plan.hasOneScale() && reader.rows() > reader.rowsInMatrix();
  return !isOfExperts && along(plan.blockRows(), reader.rowsInBlock(), reader.rowsInMatrix()) &&
         along(plan.blockColumns(), reader.columnsInBlock(), reader.columns());
}

/// Pieces within one matrix each. They cut no block of layer or plan, except blocks that span all
/// rows.
std::vector<Piece> commonPieces(const LayerReader& reader, const LayerPlan& plan) {
  return piecesOf(*layerRows(reader), plan.step());
}

/// The first index after the block that contains `place`.
std::int64_t after(std::int64_t place, std::int64_t block) { return (place / block + 1) * block; }

/// Whether all scales of the layer within each block of `plan` are equal. For blocks that hold
/// several blocks of the layer.
tl::expected<bool, Error> haveOneScaleEach(const LayerReader& reader, const LayerPlan& plan) {
  const auto isOther = [](double a, double b) {
    return a != b && !(std::isnan(a) && std::isnan(b));
  };
  std::optional<double> ofAll;
  Fetched fetched;
  for (const Piece& piece : commonPieces(reader, plan)) {
    const auto scales = PieceScales::read(reader, piece, fetched);
    if (!scales)
      return tl::unexpected(scales.error());
    if (plan.hasOneScale()) {
      for (double scale : scales->all())
        if (isOther(std::exchange(ofAll, ofAll.value_or(scale)).value_or(scale), scale))
          return false;
      continue;
    }
    const std::int64_t height = plan.blockRows(), width = plan.blockColumns();
    for (std::int64_t row = piece.begin; row < piece.end; row += height)
      for (std::int64_t column = 0; column < reader.columns(); column += width) {
        const double first = scales->at(row, column);
        const std::int64_t rowEnd = std::min(row + height, piece.end);
        const std::int64_t columnEnd = std::min(column + width, reader.columns());
        for (std::int64_t r = row; r < rowEnd;
             r = after(r - piece.begin, reader.rowsInBlock()) + piece.begin)
          for (std::int64_t c = column; c < columnEnd; c = after(c, reader.columnsInBlock()))
            if (isOther(first, scales->at(r, c)))
              return false;
      }
  }
  return true;
}

class RecastStep final : public Step {
public:
  RecastStep(const LayerReader& reader, LayerPlan plan, float outer, std::vector<float> input,
             Doubts allowed)
      : reader(reader), check(reader, allowed), plan(std::move(plan)), outer(outer),
        input(std::move(input)), all(commonPieces(reader, this->plan)),
        codes(*codesWithValuesOf(*reader.layer().type.element, *this->plan.type.element)),
        keepsCodes(*reader.layer().type.element == *this->plan.type.element) {
    if (all.empty()) // no rows: the outer and input scales are still written with a piece
      all.push_back({0, 0});
  }

  std::span<const PlannedTensor> outputs() const override { return plan.tensors; }
  std::span<const Piece> pieces() const override { return all; }
  std::uint64_t pieceMemory() const override {
    std::int64_t most = 0; // bytes of scales, read and written
    for (const Piece& piece : all)
      most = std::max(most, reader.scaleCount(piece.begin, piece.end) * 12 +
                                plan.scaleCount(piece) * plan.type.scale->bytes());
    return static_cast<std::uint64_t>(3 * mostValues(*layerRows(reader), all) + most);
  }

  tl::expected<void, Error> make(std::size_t index, const Sink& sink, Scratch& scratch) override {
    const Piece piece = all[index];
    if (auto sure = check(piece, scratch.fetched); !sure)
      return sure;
    scratch.codes.resize(static_cast<std::size_t>((piece.end - piece.begin) * reader.columns()));
    auto* elements = reinterpret_cast<std::uint8_t*>(scratch.codes.data());
    if (auto done = reader.codes(piece.begin, piece.end, elements, scratch.fetched); !done)
      return done;
    if (!keepsCodes)
      for (std::byte& code : scratch.codes)
        code = static_cast<std::byte>(codes[static_cast<std::uint8_t>(code)]);
    if (auto made = makeScales(piece, scratch.scales, scratch.fetched); !made)
      return made;
    auto written = plan.writeCodes(sink, piece, scratch.codes, scratch.stored).and_then([&] {
      return plan.writeScales(sink, piece, scratch.scales);
    });
    if (written && index == 0 && plan.outer)
      written = plan.writeOuter(sink, outer);
    if (written && index == 0 && plan.input)
      written = sink.write(*plan.input, 0, std::as_bytes(std::span(input)));
    return written;
  }

private:
  tl::expected<void, Error> makeScales(Piece piece, std::vector<std::byte>& made,
                                       Fetched& fetched) const {
    const auto scales = PieceScales::read(reader, piece, fetched);
    if (!scales)
      return tl::unexpected(scales.error());
    const ElementFormat& format = *plan.type.scale;
    const auto width = static_cast<std::size_t>(format.bytes());
    made.resize(static_cast<std::size_t>(plan.scaleCount(piece)) * width);
    std::byte* to = made.data();
    double known = std::numeric_limits<double>::quiet_NaN();
    std::uint64_t code = 0;
    for (std::int64_t row = piece.begin; row < piece.end; row += plan.blockRows())
      for (std::int64_t column = 0; column < reader.columns();
           column += plan.blockColumns(), to += width) {
        const double scale = scales->at(row, column) / outer;
        if (scale != known) {
          known = scale;
          const bool isRaised = plan.outer && scale < leastScale(format);
          code = numerics::convert(format, isRaised ? leastScale(format) : scale);
        }
        std::memcpy(to, &code, width);
      }
    return {};
  }

  LayerReader reader;
  ScaleCheck check;
  LayerPlan plan;
  float outer;
  std::vector<float> input;
  std::vector<Piece> all;
  std::array<std::uint8_t, 256> codes;
  bool keepsCodes;
};

} // namespace

tl::expected<std::optional<ScaleExponents>, Error> scaleExponents(const LayerReader& reader) {
  ScaleExponents found = {.least = std::numeric_limits<int>::max(),
                          .most = std::numeric_limits<int>::min()};
  Fetched fetched;
  for (const Piece& piece : piecesOf(*layerRows(reader))) {
    const auto scales = PieceScales::read(reader, piece, fetched);
    if (!scales)
      return tl::unexpected(scales.error());
    for (double scale : scales->all()) {
      if (std::isnan(scale))
        continue;
      int exponent = 0;
      if (std::frexp(scale, &exponent) != 0.5)
        return std::optional<ScaleExponents>();
      found.least = std::min(found.least, exponent - 1);
      found.most = std::max(found.most, exponent - 1);
    }
  }
  return found.least <= found.most ? std::optional(found) : std::optional<ScaleExponents>();
}

float outerFor(const ElementFormat& scale, int most) {
  constexpr int kLeastNormal = -126; // of f32; its inverse is normal too
  const int top = std::ilogb(numerics::maxValue(scale));
  return std::ldexp(1.0f, std::clamp(most - top, kLeastNormal, -kLeastNormal));
}

tl::expected<std::optional<std::string>, Error> whyInexact(const LayerReader& reader,
                                                           const LayerPlan& plan, float outer) {
  const Layer& layer = reader.layer();
  const ElementFormat& scale = *plan.type.scale;
  if (!codesWithValuesOf(*layer.type.element, *plan.type.element))
    return fmt::format("values of {} are not all values of {}", layer.type.element->name,
                       plan.type.element->name);
  const auto isOneEach =
      refines(reader, plan) ? tl::expected<bool, Error>(true) : haveOneScaleEach(reader, plan);
  if (!isOneEach)
    return tl::unexpected(isOneEach.error());
  if (!*isOneEach)
    return fmt::format("it has several scales in a block of {} x {}", plan.blockRows(),
                       plan.blockColumns());
  const double least = leastScale(scale) * outer;
  bool isRaised = false;
  double known = std::numeric_limits<double>::quiet_NaN();
  Fetched fetched;
  for (const Piece& piece : piecesOf(*layerRows(reader))) {
    const auto scales = PieceScales::read(reader, piece, fetched);
    if (!scales)
      return tl::unexpected(scales.error());
    for (double value : scales->all()) {
      if (value == known)
        continue;
      known = value;
      if (plan.outer && !layer.type.hasOuterScale && value > 0 && value < least)
        isRaised = true;
      else if (!codeOf(scale, value / outer))
        return fmt::format("{} has no scale of {:.6g}{}", scale.name, value,
                           plan.outer ? fmt::format(" under an outer scale of {:.6g}", outer) : "");
    }
  }
  if (!isRaised)
    return std::optional<std::string>();
  const auto lost = blocksWithValues(layer, [&](double value) { return value < least; });
  if (!lost)
    return tl::unexpected(lost.error());
  return *lost == 0 ? std::optional<std::string>()
                    : fmt::format("its scales span more powers of two than {} has", scale.name);
}

std::unique_ptr<Step> recastStep(const LayerReader& reader, LayerPlan plan, float outer,
                                 std::vector<float> input, Doubts allowed) {
  return std::make_unique<RecastStep>(reader, std::move(plan), outer, std::move(input), allowed);
}

} // namespace octavo::checkpoint
