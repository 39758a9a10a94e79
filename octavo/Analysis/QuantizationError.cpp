#include "octavo/Analysis/QuantizationError.h"

#include "octavo/Analysis/LargestCodes.h"
#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/Quantize.h"
#include "octavo/Numerics/Preset.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace octavo::analysis {

using format::ScaledFormat;
using format::ScaleRule;
using numerics::ScaledType;

namespace {

/// Values are summed in pieces of this size, and pieces in order, so that no bit depends on the
/// number of threads.
constexpr std::size_t kPiece = 4096;
/// Partial sums of a piece, so that additions do not wait for each other.
constexpr std::size_t kLanes = 8;

/// A value that exceeds the largest of its block by less than this share of itself does so by the
/// rounding of an f32 scale.
constexpr double kScaleRounding = 0x1p-20;

/// Sums and counts, in lanes. Counts are doubles, so that a vector holds as many counts as sums;
/// they are exact up to 2^53.
struct Sums {
  using Lanes = std::array<double, kLanes>;
  Lanes relative = {};  ///< |y - x| / |x|, x != 0
  Lanes relatives = {}; ///< number of terms of `relative`
  Lanes squares = {};   ///< x^2
  Lanes errors = {};    ///< (y - x)^2
  Lanes zeros = {};
  Lanes lost = {};

  void add(std::size_t lane, double x, double y) {
    const bool isFinite = std::abs(y) <= std::numeric_limits<float>::max();
    const double error = isFinite ? std::abs(y - x) : 0;
    relative[lane] += x != 0 ? error / std::abs(x) : 0;
    relatives[lane] += x != 0 && isFinite ? 1 : 0;
    squares[lane] += isFinite ? x * x : 0;
    errors[lane] += error * error;
    zeros[lane] += x == 0 ? 1 : 0;
    lost[lane] += isFinite ? 0 : 1;
  }
  void add(const Sums& other) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      relative[lane] += other.relative[lane];
      relatives[lane] += other.relatives[lane];
      squares[lane] += other.squares[lane];
      errors[lane] += other.errors[lane];
      zeros[lane] += other.zeros[lane];
      lost[lane] += other.lost[lane];
    }
  }
};

double total(const Sums::Lanes& lanes) { return std::accumulate(lanes.begin(), lanes.end(), 0.0); }

Sums sumsOf(std::span<const float> before, std::span<const float> after) {
  Sums sums;
  const std::size_t whole = before.size() - before.size() % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      sums.add(lane, before[i + lane], after[i + lane]);
  for (std::size_t i = whole; i < before.size(); ++i)
    sums.add(i - whole, before[i], after[i]);
  return sums;
}

/// One tensor, before and after quantization.
struct Comparison {
  std::span<const float> before;
  std::span<const float> after;
  std::span<const std::uint8_t> codes;
  std::span<const std::int64_t> shape;
  const ScaledType& type;

  Sums sums(const kernels::Execution& execution) const {
    std::vector<Sums> pieces((before.size() + kPiece - 1) / kPiece);
    kernels::forRanges(before.size(), kPiece, execution, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i += kPiece) {
        const std::size_t n = std::min(kPiece, end - i);
        pieces[i / kPiece] = sumsOf(before.subspan(i, n), after.subspan(i, n));
      }
    });
    Sums sums;
    for (const Sums& piece : pieces)
      sums.add(piece);
    return sums;
  }

  std::size_t clippedBlocks(std::size_t blocks, const kernels::Execution& execution) const {
    const std::array<bool, 256> isLargest = largestCodes(*type.element);
    std::vector<std::uint8_t> isClipped(blocks); // several threads may set one
    kernels::forRanges(before.size(), kPiece, execution, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const double x = std::abs(before[i]);
        if (isLargest[codes[i]] && x - std::abs(after[i]) > kScaleRounding * x) {
          const auto block = numerics::blockIndex(shape, type.block, static_cast<std::int64_t>(i));
          std::atomic_ref(isClipped[static_cast<std::size_t>(block)])
              .store(1, std::memory_order_relaxed);
        }
      }
    });
    return static_cast<std::size_t>(std::ranges::count(isClipped, 1));
  }
};

/// The options without those that only affect NaN and infinity.
numerics::QuantizeOptions onFiniteValues(numerics::QuantizeOptions options) {
  options.nonFinite = numerics::NonFinite::Error;
  options.corners.nan.reset();
  options.corners.infinite.reset();
  return options;
}

std::optional<double> bytesPerBlock(const ScaledFormat& format) {
  if (format.across == format::kWholeAxis || format.along == format::kWholeAxis)
    return std::nullopt;
  const std::int64_t values = format.across * format.along;
  return static_cast<double>(values * format.element->width() + format.scale->width()) / 8;
}

} // namespace

std::vector<Recipe> recipes(const ScaledFormat& format) {
  std::vector<Recipe> found;
  const bool takesEveryRule = format.scale->specials == format::Specials::Scale;
  for (const format::ScaleRuleRow& row : format::kScaleRules)
    if (takesEveryRule || row.rule == ScaleRule::Nearest)
      found.push_back({.format = &format, .preset = "", .options = {.rule = row.rule}});
  for (const numerics::Preset& preset : numerics::kPresets)
    if (preset.appliesTo(format))
      found.push_back({.format = &format, .preset = preset.name, .options = preset.options});
  return found;
}

ErrorRow measure(std::span<const float> values, std::span<const std::int64_t> shape,
                 const Recipe& recipe, const kernels::Execution& execution) {
  const ScaledFormat& format = *recipe.format;
  const int contracted = static_cast<int>(shape.size()) - 1;
  const ScaledType type{.element = format.element,
                        .scale = format.scale,
                        .block = format::blockShape(format, shape, contracted),
                        .hasOuterScale = format.hasOuterScale};
  std::size_t blocks = 1;
  for (std::int64_t extent : format::scaleShape(shape, type.block))
    blocks *= static_cast<std::size_t>(extent);

  std::vector<std::uint8_t> codes(values.size());
  std::vector<std::byte> scales(blocks * type.scale->bytes());
  std::vector<float> after(values.size());
  const kernels::QuantizeReport report = kernels::quantize(
      values.data(), shape, type, recipe.options, codes.data(), scales.data(), {}, execution);
  assert(!report.refused);
  kernels::dequantize(codes.data(), scales.data(), report.outer, shape, type, after.data(),
                      execution);

  const Comparison comparison{values, after, codes, shape, type};
  const Sums sums = comparison.sums(execution);
  const std::size_t clipped = comparison.clippedBlocks(blocks, execution);
  return {
      .recipe = recipe,
      .bitsPerValue = values.empty() ? 0 : format.bitsPerValue(shape, contracted),
      .bytesPerBlock = bytesPerBlock(format),
      .figures = {.meanRelativeError = total(sums.relative) / total(sums.relatives),
                  .qsnr = 10 * std::log10(total(sums.squares) / total(sums.errors)),
                  .clippedBlocks =
                      blocks == 0 ? 0 : static_cast<double>(clipped) / static_cast<double>(blocks),
                  .zeros = static_cast<std::int64_t>(total(sums.zeros)),
                  .lost = static_cast<std::int64_t>(total(sums.lost))}};
}

std::vector<ErrorRow> measure(std::span<const float> values, std::span<const std::int64_t> shape,
                              std::span<const ScaledFormat* const> formats,
                              const kernels::Execution& execution) {
  std::vector<ErrorRow> rows;
  for (const ScaledFormat* format : formats) {
    const auto first = static_cast<std::ptrdiff_t>(rows.size());
    for (const Recipe& recipe : recipes(*format)) {
      // Half of the presets differ from a rule only for NaN and infinity: their row is copied.
      const auto like = std::find_if(rows.begin() + first, rows.end(), [&](const ErrorRow& row) {
        return onFiniteValues(row.recipe.options) == onFiniteValues(recipe.options);
      });
      ErrorRow row = like != rows.end() ? *like : measure(values, shape, recipe, execution);
      row.recipe = recipe;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

} // namespace octavo::analysis
