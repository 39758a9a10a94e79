#include "octavo/Analysis/Magnitudes.h"

#include "octavo/Kernels/Amax.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Parallel/Loops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

namespace octavo::analysis {

namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFF;

std::size_t binOf(float value) {
  return (std::bit_cast<std::uint32_t>(value) & kMagnitude) >> Magnitudes::kBitsBelowBin;
}

/// The largest f32 of a bin.
float upperEdge(std::size_t bin) {
  return std::bit_cast<float>((static_cast<std::uint32_t>(bin + 1) << Magnitudes::kBitsBelowBin) -
                              1);
}

float lowerEdge(std::size_t bin) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bin) << Magnitudes::kBitsBelowBin);
}

/// Sums over whole tensors stay below this.
constexpr std::uint64_t kMostValues = std::uint64_t{1} << 63;

} // namespace

std::optional<std::size_t> Magnitudes::add(std::span<const float> values,
                                           const kernels::Execution& execution) {
  if (values.empty())
    return std::nullopt;
  const float amax = kernels::amax(kernels::WideType::F32, values.data(), values.size(), execution);
  if (!std::isfinite(amax))
    return static_cast<std::size_t>(
        std::ranges::find_if(values, [](float value) { return !std::isfinite(value); }) -
        values.begin());
  counts.resize(kBins);
  // A table of bins costs a range as much as so many values.
  constexpr std::int64_t kLeast = 1 << 16;
  std::mutex adding;
  parallel::forRanges(static_cast<std::int64_t>(values.size()), kLeast,
                      [&](std::int64_t begin, std::int64_t end) {
                        std::vector<std::uint64_t> own(kBins);
                        for (std::int64_t i = begin; i < end; ++i)
                          ++own[binOf(values[static_cast<std::size_t>(i)])];
                        const std::lock_guard lock(adding);
                        for (std::size_t bin = 0; bin < kBins; ++bin)
                          counts[bin] += own[bin];
                      });
  total += values.size();
  largest = std::max(largest, amax);
  return std::nullopt;
}

void Magnitudes::merge(const Magnitudes& other) {
  if (other.total == 0)
    return;
  counts.resize(kBins);
  for (std::size_t bin = 0; bin < kBins; ++bin)
    counts[bin] += other.counts[bin];
  total += other.total;
  largest = std::max(largest, other.largest);
}

std::optional<Magnitudes> Magnitudes::of(float amax, std::size_t first,
                                         std::span<const std::uint64_t> bins) {
  Magnitudes made;
  if (first > kBins || bins.size() > kBins - first)
    return std::nullopt;
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i] >= kMostValues - made.total)
      return std::nullopt;
    made.total += bins[i];
    if (bins[i] != 0)
      last = first + i;
  }
  if (last ? binOf(amax) != *last : amax != 0)
    return std::nullopt;
  if (last) {
    made.counts.resize(kBins);
    std::ranges::copy(bins, made.counts.begin() + static_cast<std::ptrdiff_t>(first));
    made.largest = amax;
  }
  return made;
}

float Magnitudes::percentile(double percent) const {
  const std::uint64_t zeros = counts.empty() ? 0 : counts.front();
  // Multiplied first: 99.9 * 1000 / 100 is 999, 99.9 / 100 * 1000 is more.
  const auto wanted =
      static_cast<std::uint64_t>(std::ceil(percent * static_cast<double>(total - zeros) / 100));
  std::uint64_t below = 0;
  for (std::size_t bin = 1; bin < counts.size(); ++bin) {
    below += counts[bin];
    if (counts[bin] != 0 && below >= wanted)
      return std::min(upperEdge(bin), largest);
  }
  return largest;
}

float Magnitudes::leastSquaresRange(const format::ElementFormat& element) const {
  struct Bin {
    double middle, count;
  };
  std::vector<Bin> filled;
  for (std::size_t bin = 1; bin < counts.size(); ++bin)
    if (counts[bin] != 0)
      filled.push_back({(static_cast<double>(lowerEdge(bin)) +
                         static_cast<double>(std::min(upperEdge(bin), largest))) /
                            2,
                        static_cast<double>(counts[bin])});
  const auto max = static_cast<float>(numerics::maxValue(element));
  const auto errorOf = [&](float range) {
    const auto scale = static_cast<double>(range / max);
    double sum = 0;
    for (const Bin& bin : filled) {
      const double rounded =
          numerics::round(element, bin.middle / scale, {.overflow = numerics::Overflow::Saturate});
      const double difference = rounded * scale - bin.middle;
      sum += bin.count * difference * difference;
    }
    return sum;
  };
  float best = largest;
  if (filled.empty() || largest / max == 0)
    return best;
  double least = errorOf(best);
  constexpr std::size_t kCandidates = 8 * 64;
  const std::size_t top = binOf(largest);
  for (std::size_t bin = top; bin-- > 1 && top - bin <= kCandidates;) {
    const float range = upperEdge(bin);
    if (range / max == 0)
      break;
    if (const double error = errorOf(range); error < least) {
      least = error;
      best = range;
    }
  }
  return best;
}

} // namespace octavo::analysis
