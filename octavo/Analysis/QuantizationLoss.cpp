#include "octavo/Analysis/QuantizationLoss.h"

#include "octavo/Analysis/LargestCodes.h"
#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/Quantize.h"
#include "octavo/Numerics/Saturation.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

namespace octavo::analysis {

namespace {

/// Values are summed in pieces of this size, and pieces in order, so that no bit depends on the
/// number of threads.
constexpr std::size_t kPairsOfPiece = 4096;

LossSums sumsOfPiece(std::span<const float> before, std::span<const float> after) {
  LossSums sums;
  sums.values = std::ssize(before);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double x = before[i], y = after[i];
    if (!std::isfinite(x) || !std::isfinite(y)) {
      ++sums.nonFinite;
      continue;
    }
    sums.underflowed += x != 0 && y == 0;
    sums.squares += x * x;
    sums.errors += (y - x) * (y - x);
    sums.amax = std::max(sums.amax, std::abs(x));
  }
  return sums;
}

} // namespace

void LossSums::add(std::span<const float> before, std::span<const float> after,
                   const kernels::Execution& execution) {
  std::vector<LossSums> pieces((before.size() + kPairsOfPiece - 1) / kPairsOfPiece);
  kernels::forRanges(
      before.size(), kPairsOfPiece, execution, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; i += kPairsOfPiece) {
          const std::size_t n = std::min(kPairsOfPiece, end - i);
          pieces[i / kPairsOfPiece] = sumsOfPiece(before.subspan(i, n), after.subspan(i, n));
        }
      });
  for (const LossSums& piece : pieces) {
    values += piece.values;
    nonFinite += piece.nonFinite;
    underflowed += piece.underflowed;
    squares += piece.squares;
    errors += piece.errors;
    amax = std::max(amax, piece.amax);
  }
}

std::optional<double> LossSums::sqnr() const {
  if (values == nonFinite)
    return std::nullopt;
  return 10 * std::log10(squares / errors);
}

void QuantizationLoss::add(std::span<const float> values, std::span<const std::int64_t> shape,
                           const numerics::ScaledType& type,
                           const numerics::QuantizeOptions& options,
                           const kernels::Execution& execution) {
  std::size_t blocks = 1;
  for (const std::int64_t extent : format::scaleShape(shape, type.block))
    blocks *= static_cast<std::size_t>(extent);
  std::vector<std::uint8_t> codes(values.size());
  const auto width = static_cast<std::size_t>(type.scale->bytes());
  std::vector<std::byte> scales(blocks * width);
  std::vector<float> after(values.size());
  const kernels::QuantizeReport report = kernels::quantize(
      values.data(), shape, type, options, codes.data(), scales.data(), {}, execution);
  if (report.refused) { // nothing was quantized
    sums.values += std::ssize(values);
    sums.nonFinite += std::ssize(values);
    return;
  }
  kernels::dequantize(codes.data(), scales.data(), report.outer, shape, type, after.data(),
                      execution);
  sums.add(values, after, execution);

  const std::array<bool, 256> isLargest = largestCodes(*type.element);
  std::atomic<std::int64_t> count = 0;
  kernels::forRanges(
      values.size(), kPairsOfPiece, execution, [&](std::size_t begin, std::size_t end) {
        std::int64_t found = 0;
        for (std::size_t i = begin; i < end; ++i) {
          if (!isLargest[codes[i]] || !std::isfinite(values[i]))
            continue;
          const auto block = static_cast<std::size_t>(
              numerics::blockIndex(shape, type.block, static_cast<std::int64_t>(i)));
          std::uint32_t scale = 0;
          std::memcpy(&scale, scales.data() + block * width, width);
          if (!type.scale->isNan(scale))
            found += numerics::isSaturated(type, scale, report.outer, values[i], options);
        }
        count += found;
      });
  saturated += count;
}

} // namespace octavo::analysis
