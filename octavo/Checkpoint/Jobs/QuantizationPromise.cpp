#include "octavo/Checkpoint/Jobs/QuantizationPromise.h"

#include "octavo/Checkpoint/StoredCode.h"
#include "octavo/Kernels/RoundedRun.h"
#include "octavo/Kernels/Widen.h"
#include "octavo/Numerics/Conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace octavo::checkpoint {

namespace {

using format::ElementFormat;

/// Relative slack: products of scale, outer scale and element are rounded to f32 a few times.
constexpr double kSlack = 1.0 / (1 << 16);

double halfStep(const ElementFormat& format, double value) {
  const int exponent = value == 0 ? format.emin() : std::max(std::ilogb(value), format.emin());
  return std::ldexp(0.5, exponent - format.trailingSignificandBits);
}

/// Bounds for the values under one scale.
struct Bounds {
  kernels::RoundedBlock values;
  double smallestAmax;
};

/// Computes the bounds of a scale from constants of the layer's type.
class BoundsOfLayer {
public:
  BoundsOfLayer(const numerics::ScaledType& type, ExpectedRounding rounding)
      : scaleFormat(*type.scale), halfSteps(rounding == ExpectedRounding::Nearest ? 1 : 2),
        isPowerOfTwo(scaleFormat.specials == format::Specials::Scale),
        max(numerics::maxValue(*type.element)), atEnd(halfSteps * halfStep(*type.element, max)),
        relative(halfSteps * std::ldexp(1.0, -type.element->trailingSignificandBits - 1) *
                 (1 + kSlack)),
        quantum(halfSteps * std::ldexp(1.0, type.element->quantumExponent() - 1) * (1 + kSlack)),
        binadeEnd(std::ldexp(1.0, type.element->emax() + 1)),
        leastAmax(std::ldexp(1.0, type.element->emax() - 1) * (1 - kSlack)),
        smallestScale(isPowerOfTwo
                          ? numerics::minPositive(scaleFormat)
                          : std::max(numerics::minPositive(scaleFormat),
                                     std::nextafter(numerics::minNormal(scaleFormat), 0))) {}

  Bounds of(double scale, double outer) const {
    const double s = scale * outer;
    const double largest =
        isPowerOfTwo ? binadeEnd * s : max * (scale + halfStep(scaleFormat, scale)) * outer;
    const bool isChosenByBlock = scaleFormat.isNarrow() && scale > smallestScale;
    return {.values = {.relative = relative,
                       .absolute = quantum * s,
                       .end = max * s * (1 - kSlack),
                       // A value up to half a step beyond the end still rounds to the end.
                       .clipped = (largest + atEnd * s) * (1 + kSlack)},
            .smallestAmax = isChosenByBlock ? leastAmax * s : 0};
  }

private:
  const ElementFormat& scaleFormat;
  double halfSteps; ///< half steps by which a value may differ: 1 or 2
  bool isPowerOfTwo;
  double max, atEnd, relative, quantum, binadeEnd, leastAmax;
  double smallestScale; ///< scales up to it say nothing about the amax
};

/// The bounds for scale codes of a piece, from a table if the format is narrow.
class BoundsOfScales {
public:
  BoundsOfScales(const numerics::ScaledType& type, ExpectedRounding rounding, double outer)
      : format(*type.scale), ofLayer(type, rounding), outer(outer) {
    if (format.isNarrow())
      for (std::uint64_t code = 0; code < 256; ++code)
        byCode.push_back(ofLayer.of(numerics::decode(format, code), outer));
  }

  double scale(const std::byte* stored) const {
    return numerics::decode(format, codeAt(format, stored));
  }
  Bounds of(const std::byte* stored) const {
    return format.isNarrow() ? byCode[codeAt(format, stored)] : ofLayer.of(scale(stored), outer);
  }

private:
  const ElementFormat& format;
  BoundsOfLayer ofLayer;
  double outer;
  std::vector<Bounds> byCode;
};

/// The index of the first of `n` values that breaks the bounds; n if there is none.
std::int64_t firstBroken(const kernels::RoundedBlock& bounds, const float* x, const float* w,
                         std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double size = std::fabs(double{w[i]}), error = std::fabs(double{x[i]} - double{w[i]});
    const double from = std::fabs(double{x[i]});
    const bool isNear = error <= std::max(size * bounds.relative, bounds.absolute);
    const bool isClipped = size >= bounds.end && std::signbit(x[i]) == std::signbit(w[i]) &&
                           from >= size && from <= bounds.clipped;
    if (!isNear && !isClipped && !(std::isnan(x[i]) && std::isnan(w[i])))
      return i;
  }
  return n;
}

} // namespace

QuantizationCheck::QuantizationCheck(const PairedRows& rows, const LayerReader& reader,
                                     ExpectedRounding rounding,
                                     std::optional<kernels::WideType> through)
    : rows(rows), layer(reader), rounding(rounding), through(through) {}

void roundTo(kernels::WideType type, float* values, std::size_t n, Scratch& scratch) {
  scratch.codes.resize(n * kernels::wideBytes(type));
  kernels::narrow(type, values, scratch.codes.data(), n);
  kernels::widen(type, scratch.codes.data(), values, n);
}

std::string QuantizationCheck::brokenIn(Piece piece, Scratch& scratch) const {
  const numerics::ScaledType& type = layer.layer().type;
  const std::int64_t columns = layer.columns(), along = layer.columnsInBlock();
  const std::int64_t across = std::min(layer.rowsInBlock(), piece.end - piece.begin);
  const auto inRow = static_cast<std::size_t>(layer.scalesInRow());
  const auto width = static_cast<std::size_t>(type.scale->bytes());
  const BoundsOfScales bounds(type, rounding, layer.outer(piece.begin));
  std::vector<std::byte> scales(static_cast<std::size_t>(layer.scaleCount(piece.begin, piece.end)) *
                                width);
  if (auto read = layer.scales(piece.begin, piece.end, scales.data(), scratch.fetched); !read)
    return read.error().message();
  std::vector<double> amaxes(scales.size() / width);
  std::vector<kernels::RoundedBlock> ofRow(inRow);

  std::string broken;
  const auto checkRow = [&](std::int64_t row, const float* x, const float* w) {
    const auto first = static_cast<std::size_t>((row - piece.begin) / across) * inRow;
    for (std::size_t i = 0; i < inRow; ++i)
      ofRow[i] = bounds.of(&scales[(first + i) * width]).values;
    if (kernels::areRounded({x, w, static_cast<std::size_t>(columns),
                             static_cast<std::size_t>(along), ofRow.data(), &amaxes[first]}))
      return;
    for (std::size_t i = 0; i < inRow && broken.empty(); ++i) {
      const std::int64_t begin = static_cast<std::int64_t>(i) * along;
      const std::int64_t n = std::min(along, columns - begin);
      if (const std::int64_t at = firstBroken(ofRow[i], x + begin, w + begin, n); at < n)
        broken = fmt::format("row {}, column {}: {} became {} under the scale {}", row, begin + at,
                             x[begin + at], w[begin + at],
                             bounds.scale(&scales[(first + i) * width]) * layer.outer(piece.begin));
    }
  };
  const auto done = rows.forTiles(piece, scratch, [&](Piece tile, float* x, const float* w) {
    if (through)
      roundTo(*through, x, static_cast<std::size_t>((tile.end - tile.begin) * columns), scratch);
    for (std::int64_t row = tile.begin; row < tile.end && broken.empty(); ++row)
      checkRow(row, x + (row - tile.begin) * columns, w + (row - tile.begin) * columns);
    return broken.empty();
  });
  if (!done)
    return done.error().message();
  // A piece may cut a block of many rows; only whole blocks have an amax to check.
  const bool areWhole = layer.rowsInBlock() == 1 || rows.second().step() == layer.rowsInBlock();
  for (std::size_t i = 0; i < amaxes.size() && areWhole && broken.empty(); ++i)
    if (amaxes[i] > 0 && amaxes[i] < bounds.of(&scales[i * width]).smallestAmax)
      broken = fmt::format("row {}, column {}: the block's amax {} is far below its scale {}",
                           piece.begin + static_cast<std::int64_t>(i / inRow) * across,
                           static_cast<std::int64_t>(i % inRow) * along, amaxes[i],
                           bounds.scale(&scales[i * width]) * layer.outer(piece.begin));
  return broken;
}

} // namespace octavo::checkpoint
