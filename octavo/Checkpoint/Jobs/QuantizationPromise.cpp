#include "octavo/Checkpoint/Jobs/QuantizationPromise.h"

#include "octavo/Numerics/Conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace octavo::checkpoint {

namespace {

using format::ElementFormat;

/// Products of scale, outer scale and element are rounded to f32 a few times: relative slack.
constexpr double kSlack = 1.0 / (1 << 16);

double halfStep(const ElementFormat& format, double value) {
  const int exponent = value == 0 ? format.emin() : std::max(std::ilogb(value), format.emin());
  return std::ldexp(0.5, exponent - format.trailingSignificandBits);
}

/// What holds for the values under one scale.
struct Bounds {
  double relative; ///< what rounding moves a normal value, of its size
  double absolute; ///< what it moves a subnormal one
  double end;      ///< values of this size are at the largest code
  double clipped;  ///< the largest source value that may end up there
  double smallestAmax;
};

Bounds boundsOf(const numerics::ScaledType& type, double scale, double outer,
                ExpectedRounding rounding) {
  const ElementFormat& element = *type.element;
  const double s = scale * outer;
  const double halfSteps = rounding == ExpectedRounding::Nearest ? 1 : 2; // a value may be off by
  const double max = numerics::maxValue(element);
  const bool isPowerOfTwo = type.scale->specials == format::Specials::Scale;
  const double largest = isPowerOfTwo ? std::ldexp(1.0, element.emax() + 1) * s
                                      : max * (scale + halfStep(*type.scale, scale)) * outer;
  const bool isSmallest = scale <= numerics::minPositive(*type.scale) ||
                          (!isPowerOfTwo && scale < numerics::minNormal(*type.scale));
  const bool isChosenByBlock = type.scale->isNarrow() && !isSmallest;
  return {.relative =
              halfSteps * std::ldexp(1.0, -element.trailingSignificandBits - 1) * (1 + kSlack),
          .absolute = halfSteps * std::ldexp(s, element.quantumExponent() - 1) * (1 + kSlack),
          .end = max * s * (1 - kSlack),
          // Rounding at the end moves what is within half a step beyond.
          .clipped = (largest + halfSteps * halfStep(element, max) * s) * (1 + kSlack),
          .smallestAmax = isChosenByBlock ? std::ldexp(s, element.emax() - 1) * (1 - kSlack) : 0};
}

std::string valueText(std::int64_t row, std::int64_t column, float x, float w, double scale) {
  return fmt::format("row {}, column {}: {} became {} under the scale {}", row, column, x, w,
                     scale);
}

/// One block of a piece: `rows` x `columns` values at `x` and `w`, `stride` apart.
std::string brokenBlock(const Bounds& bounds, double scale, std::int64_t row, std::int64_t column,
                        const float* x, const float* w, std::int64_t rows, std::int64_t columns,
                        std::int64_t stride, double& amax) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      const float from = x[r * stride + c], to = w[r * stride + c];
      const double size = std::fabs(double{to}), error = std::fabs(double{from} - double{to});
      amax = std::max(amax, std::fabs(double{from}));
      const bool isNear = error <= std::max(size * bounds.relative, bounds.absolute);
      const bool isClipped = size >= bounds.end && std::signbit(from) == std::signbit(to) &&
                             std::fabs(double{from}) <= bounds.clipped;
      if (!isNear && !isClipped && !(std::isnan(from) && std::isnan(to)))
        return valueText(row + r, column + c, from, to, scale);
    }
  return {};
}

} // namespace

std::string brokenQuantization(const LayerReader& layer, const ValueRows& source,
                               ExpectedRounding rounding) {
  const numerics::ScaledType& type = layer.layer().type;
  const std::int64_t columns = layer.columns(), along = layer.columnsInBlock();
  const std::shared_ptr<const ValueRows> output = layerRows(layer);
  Scratch scratch;
  std::vector<float> x, w;
  std::vector<std::byte> scales;
  // A block of many rows may be cut into pieces: only whole ones have an amax to judge.
  const bool areWhole = layer.rowsInBlock() == 1 || output->step() == layer.rowsInBlock();
  for (const Piece& piece : piecesOf(*output, source.step())) {
    const std::int64_t rows = piece.end - piece.begin;
    const double outer = layer.outer(piece.begin);
    x.resize(static_cast<std::size_t>(rows * columns));
    w.resize(x.size());
    scales.resize(
        static_cast<std::size_t>(layer.scaleCount(piece.begin, piece.end) * type.scale->bytes()));
    const auto done =
        source.read(piece, x.data(), scratch)
            .and_then([&] { return output->read(piece, w.data(), scratch); })
            .and_then([&] {
              return layer.scales(piece.begin, piece.end, scales.data(), scratch.fetched);
            });
    if (!done)
      return done.error().message();
    std::size_t index = 0;
    for (std::int64_t r = 0; r < rows; r += std::min(layer.rowsInBlock(), rows))
      for (std::int64_t c = 0; c < columns; c += along, ++index) {
        std::uint64_t code = 0;
        std::memcpy(&code, scales.data() + index * type.scale->bytes(), type.scale->bytes());
        const double scale = numerics::decode(*type.scale, code);
        const Bounds bounds = boundsOf(type, scale, outer, rounding);
        const std::int64_t height = std::min(layer.rowsInBlock(), rows - r);
        double amax = 0;
        std::string broken = brokenBlock(bounds, scale * outer, piece.begin + r, c,
                                         x.data() + r * columns + c, w.data() + r * columns + c,
                                         height, std::min(along, columns - c), columns, amax);
        if (broken.empty() && areWhole && amax > 0 && amax < bounds.smallestAmax)
          broken = fmt::format("row {}, column {}: the block's amax {} is far below its scale {}",
                               piece.begin + r, c, amax, scale * outer);
        if (!broken.empty())
          return broken;
      }
  }
  return {};
}

} // namespace octavo::checkpoint
