#include "octavo/Analysis/PublishedErrors.h"

#include "octavo/Analysis/Distribution.h"
#include "octavo/Analysis/QuantizationError.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace octavo::analysis {

namespace {

constexpr std::size_t kSamples = std::size_t{1} << 18;
constexpr std::int64_t kColumns = 4096;
constexpr std::uint64_t kSeed = 42;

} // namespace

std::vector<BoundRange> RangeScan::boundsThatGive(std::size_t figure) const {
  std::vector<BoundRange> ranges;
  bool isOpen = false;
  for (std::size_t i = 0; i < kBoundCount; ++i) {
    const bool isGiven = kRfcErrors[figure].isGivenBy(percent[figure][i]);
    if (isGiven && !isOpen)
      ranges.push_back({bound(i), bound(i)});
    if (isGiven)
      ranges.back().last = bound(i);
    isOpen = isGiven;
  }
  return ranges;
}

std::size_t RangeScan::figuresGivenAt(std::size_t boundIndex) const {
  std::size_t given = 0;
  for (std::size_t figure = 0; figure < kRfcErrors.size(); ++figure)
    given += kRfcErrors[figure].isGivenBy(percent[figure][boundIndex]);
  return given;
}

std::size_t RangeScan::bestBound() const {
  const auto worst = [this](std::size_t boundIndex) {
    double units = 0;
    for (std::size_t figure = 0; figure < kRfcErrors.size(); ++figure)
      units = std::max(units, std::abs(percent[figure][boundIndex] - kRfcErrors[figure].percent) /
                                  kRfcErrors[figure].unit);
    return units;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < kBoundCount; ++i)
    if (std::tuple(figuresGivenAt(i), -worst(i)) > std::tuple(figuresGivenAt(best), -worst(best)))
      best = i;
  return best;
}

RangeScan scanRanges(format::ScaleRule rule, const kernels::Execution& execution) {
  const std::vector<float> unit = samples(Uniform{-1, 1}, kSamples, kSeed, execution);
  const std::int64_t shape[] = {static_cast<std::int64_t>(kSamples) / kColumns, kColumns};
  std::vector<float> values(unit.size());
  RangeScan scan{.rule = rule, .percent = {}};
  for (std::size_t i = 0; i < kBoundCount; ++i) {
    const auto a = static_cast<float>(bound(i));
    std::ranges::transform(unit, values.begin(), [a](float u) { return a * u; });
    for (std::size_t figure = 0; figure < kRfcErrors.size(); ++figure) {
      const Recipe recipe{.format = format::findScaledFormat(kRfcErrors[figure].format),
                          .preset = "",
                          .options = {.rule = rule}};
      scan.percent[figure][i] =
          100 * measure(values, shape, recipe, execution).figures.meanRelativeError;
    }
  }
  return scan;
}

} // namespace octavo::analysis
