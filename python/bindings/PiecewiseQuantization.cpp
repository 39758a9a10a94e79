#include "python/bindings/PiecewiseQuantization.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Amax.h"
#include "octavo/Kernels/Widen.h"
#include "octavo/Numerics/Tensor.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

namespace octavo::python {

namespace {

/// Values of a piece: enough to occupy the threads, few beside a large tensor.
constexpr std::int64_t kPiece = std::int64_t{1} << 20;

class PiecewiseQuantization {
public:
  PiecewiseQuantization(kernels::WideType type, const std::byte* values, const Shape& shape,
                        const numerics::ScaledType& scaled,
                        const numerics::QuantizeOptions& options,
                        const std::optional<numerics::RandomStream>& stream,
                        const std::optional<numerics::OuterScale>& given, std::uint8_t* codes,
                        std::byte* scales, const kernels::Execution& execution)
      : type(type), values(values), shape(shape), scaled(scaled), options(options), stream(stream),
        given(given), codes(codes), scales(scales), execution(execution),
        size(numerics::elementCount(shape)), hasOneScale(scaled.block == shape) {}

  kernels::QuantizeReport run() {
    // Kernels do not combine a given outer scale with random numbers.
    if (size > 0 && given && stream)
      return quantizePieces();
    if (type == kernels::WideType::F32)
      return quantizeWhole(reinterpret_cast<const float*>(values));
    if (size > kPiece && knowsAmax())
      return quantizePieces();
    const auto floats = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(size));
    widen(0, size, floats.get());
    return quantizeWhole(floats.get());
  }

private:
  /// Whether pieces can be quantized separately. They can if no scale depends on the whole tensor,
  /// or if `amax`, which this sets, is all that they need of it. If `amax` is not finite, kernels
  /// search the whole tensor for finite blocks. Kernels also do not combine a given amax with
  /// random numbers.
  bool knowsAmax() {
    if (given || (!scaled.hasOuterScale && !hasOneScale))
      return true;
    amax = kernels::amax(type, values, static_cast<std::size_t>(size), execution);
    return std::isfinite(amax) && (scaled.hasOuterScale || !stream);
  }

  kernels::QuantizeReport quantizeWhole(const float* floats) const {
    if (given)
      return kernels::quantizeUnder(*given, floats, shape, scaled, options, codes, scales, {},
                                    execution);
    return stream ? kernels::quantizeSeeded(floats, shape, scaled, options, codes, scales, *stream,
                                            execution)
                  : kernels::quantize(floats, shape, scaled, options, codes, scales, {}, execution);
  }

  std::int64_t blockAlong(std::size_t axis) const { return hasOneScale ? 1 : scaled.block[axis]; }

  /// Cuts along the first axis whose slabs of blocks are small enough, or along which blocks lie.
  kernels::QuantizeReport quantizePieces() {
    std::size_t axis = 0;
    std::int64_t lead = 1, inner = size / shape[0];
    while (axis + 1 < shape.size() && blockAlong(axis) == 1 && inner > kPiece) {
      lead *= shape[axis];
      inner /= shape[++axis];
    }
    const std::int64_t block = blockAlong(axis), extent = shape[axis];
    const std::int64_t step =
        std::min(extent, std::max<std::int64_t>(1, kPiece / (inner * block)) * block);
    const Shape grid = format::scaleShape(shape, scaled.block);
    const std::int64_t scalesOfSlab =
        numerics::elementCount(std::span(grid).subspan(axis + 1)) * scaled.scale->bytes();

    const auto most = static_cast<std::size_t>(step * inner);
    floats = std::make_unique_for_overwrite<float[]>(most);
    if (stream)
      numbers = std::make_unique_for_overwrite<std::uint32_t[]>(most);
    kernels::QuantizeReport report;
    for (std::int64_t member = 0; member < lead; ++member)
      for (std::int64_t start = 0; start < extent; start += step) {
        Shape piece(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end());
        piece[0] = std::min(step, extent - start);
        const std::int64_t slab = hasOneScale ? 0 : member * grid[axis] + start / block;
        report =
            quantizePiece((member * extent + start) * inner, piece, scales + slab * scalesOfSlab);
        if (report.refused)
          return report;
      }
    return report;
  }

  kernels::QuantizeReport quantizePiece(std::int64_t at, const Shape& piece,
                                        std::byte* pieceScales) {
    const std::int64_t n = numerics::elementCount(piece);
    widen(at, n, floats.get());
    numerics::ScaledType pieceType = scaled;
    pieceType.block.assign(scaled.block.end() - static_cast<std::ptrdiff_t>(piece.size()),
                           scaled.block.end());
    for (std::size_t i = 0; i < piece.size(); ++i)
      pieceType.block[i] = std::min(pieceType.block[i], piece[i]);
    const std::span<const std::uint32_t> random = numbersAt(at, n);
    std::uint8_t* pieceCodes = codes + at;
    kernels::QuantizeReport report =
        scaled.hasOuterScale
            ? kernels::quantizeUnder(
                  given ? *given
                        : numerics::outerScale(*scaled.element, *scaled.scale, amax, options),
                  floats.get(), piece, pieceType, options, pieceCodes, pieceScales, random,
                  execution)
        : hasOneScale ? kernels::quantizePiece(floats.get(), piece, pieceType, options, amax,
                                               pieceCodes, pieceScales, execution)
                      : kernels::quantize(floats.get(), piece, pieceType, options, pieceCodes,
                                          pieceScales, random, execution);
    if (report.refused)
      report.refused->index += at;
    return report;
  }

  void widen(std::int64_t at, std::int64_t n, float* to) const {
    const std::byte* from = values + static_cast<std::size_t>(at) * kernels::wideBytes(type);
    kernels::forRanges(
        static_cast<std::size_t>(n), 4096, execution, [&](std::size_t begin, std::size_t end) {
          kernels::widen(type, from + begin * kernels::wideBytes(type), to + begin, end - begin);
        });
  }

  std::span<const std::uint32_t> numbersAt(std::int64_t at, std::int64_t n) {
    if (!stream)
      return {};
    const std::span all(numbers.get(), static_cast<std::size_t>(n));
    kernels::forRanges(all.size(), 4096, execution, [&](std::size_t begin, std::size_t end) {
      stream->fill(static_cast<std::uint64_t>(at) + begin, all.subspan(begin, end - begin));
    });
    return all;
  }

  kernels::WideType type;
  const std::byte* values;
  const Shape& shape;
  const numerics::ScaledType& scaled;
  const numerics::QuantizeOptions& options;
  const std::optional<numerics::RandomStream>& stream;
  const std::optional<numerics::OuterScale>& given;
  std::uint8_t* codes;
  std::byte* scales;
  const kernels::Execution& execution;
  std::int64_t size;
  bool hasOneScale;
  float amax = 0;
  std::unique_ptr<float[]> floats;
  std::unique_ptr<std::uint32_t[]> numbers;
};

} // namespace

kernels::QuantizeReport quantizePiecewise(kernels::WideType type, const std::byte* values,
                                          const Shape& shape, const numerics::ScaledType& scaled,
                                          const numerics::QuantizeOptions& options,
                                          const std::optional<numerics::RandomStream>& stream,
                                          const std::optional<numerics::OuterScale>& given,
                                          std::uint8_t* codes, std::byte* scales,
                                          const kernels::Execution& execution) {
  return PiecewiseQuantization(type, values, shape, scaled, options, stream, given, codes, scales,
                               execution)
      .run();
}

} // namespace octavo::python
