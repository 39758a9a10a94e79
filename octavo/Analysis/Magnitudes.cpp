#include "octavo/Analysis/Magnitudes.h"

#include "octavo/Base/Loops.h"
#include "octavo/Kernels/Amax.h"
#include "octavo/Numerics/Conversion.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

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

/// The number of values stays below this bound.
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
  // A table of bins costs a range as much as this many values.
  constexpr std::int64_t kLeast = 1 << 16;
  std::mutex adding;
  base::forRanges(static_cast<std::int64_t>(values.size()), kLeast,
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
  // The order matters: 99.9 * 1000 / 100 is 999, but 99.9 / 100 * 1000 is more.
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

namespace {

/// The values of a bin lie from `low` to `high`; the bin itself ends at `full`, exclusive.
struct FilledBin {
  double low, high, full, count;
  double middle() const { return (low + high) / 2; }
};

/// Rounds magnitudes to a format's values times a scale.
class ScaledRounding {
public:
  ScaledRounding(const format::ElementFormat& element, float range)
      : element(element),
        scale(static_cast<double>(range / static_cast<float>(numerics::maxValue(element)))) {}

  double rounded(double value) const {
    return numerics::round(element, value / scale, {.overflow = numerics::Overflow::Saturate}) *
           scale;
  }
  double error(double value) const {
    const double difference = rounded(value) - value;
    return difference * difference;
  }
  /// The point between `low` and `high` where rounding changes to the next value; nullopt if all
  /// round to one value. Exact if there is only one such point (isOnly).
  std::optional<double> boundary(double low, double high) const {
    const double from = rounded(low), to = rounded(high);
    if (from == to)
      return std::nullopt;
    return std::clamp((from + to) / 2, low, high);
  }
  /// Whether `boundary` is the only such point between `low` and `high`.
  bool isOnly(double boundary, double low, double high) const {
    const double half = (rounded(high) - rounded(low)) / 2;
    return std::abs(error(boundary) - half * half) <= 1e-9 * half * half;
  }

private:
  const format::ElementFormat& element;
  double scale;
};

/// An upper bound of how much more a value from `low` to `high` loses under `one` than under
/// `other`. While both round to fixed values, the difference of the two squares is linear in the
/// value, so it is largest at an end. The interval is cut where either rounding changes to its next
/// value.
double mostLost(const ScaledRounding& one, const ScaledRounding& other, double low, double high) {
  double most = std::max(one.error(low) - other.error(low), one.error(high) - other.error(high));
  for (const ScaledRounding* rounding : {&one, &other}) {
    const std::optional<double> boundary = rounding->boundary(low, high);
    if (!boundary)
      continue;
    // Several values of a fine format can lie in one bin: then halve it.
    const double middle = (low + high) / 2;
    if (!rounding->isOnly(*boundary, low, high) && high - low > 1e-6 * high)
      return std::max(mostLost(one, other, low, middle), mostLost(one, other, middle, high));
    most = std::max(most, one.error(*boundary) - other.error(*boundary));
  }
  return most;
}

/// How much more all values lose under `one` than under `other`, estimated from the histogram. The
/// values may lie in their bins in three ways:
/// - at the lower edges: integers up to 127 and floats of at most six bits
/// - at the lower edge or halfway, equally likely: bf16
/// - anywhere, evenly: f32
///
/// Values count as independent, so their total deviates from its mean by its standard deviation.
class LikelyLoss {
public:
  LikelyLoss(const ScaledRounding& one, const ScaledRounding& other) : one(one), other(other) {}

  void add(const FilledBin& bin) {
    const double width = bin.full - bin.low;
    const auto at = [&](double part) {
      const double value = std::min(bin.low + part * width, bin.high);
      return one.error(value) - other.error(value);
    };
    const double low = at(0), half = at(0.5);
    edges.mean += bin.count * low;
    halves.mean += bin.count * (low + half) / 2;
    halves.variance += bin.count * (low - half) * (low - half) / 4;
    constexpr int kPoints = 8;
    double sum = 0, squares = 0;
    for (int i = 0; i < kPoints; ++i) {
      const double value = bin.low + (i + 0.5) / kPoints * (bin.high - bin.low);
      const double more = one.error(value) - other.error(value);
      sum += more;
      squares += more * more;
    }
    const double mean = sum / kPoints;
    even.mean += bin.count * mean;
    even.variance += bin.count * std::max(squares / kPoints - mean * mean, 0.0);
  }

  /// Whether `one` loses no more in any of the three ways, with four standard deviations to spare.
  bool isNone() const { return edges.isNone() && halves.isNone() && even.isNone(); }

private:
  struct Sum {
    double mean = 0, variance = 0;
    bool isNone() const { return mean + 4 * std::sqrt(variance) <= 0; }
  };
  const ScaledRounding& one;
  const ScaledRounding& other;
  Sum edges, halves, even;
};

} // namespace

float Magnitudes::leastSquaresRange(const format::ElementFormat& element) const {
  std::vector<FilledBin> filled;
  for (std::size_t bin = 1; bin < counts.size(); ++bin)
    if (counts[bin] != 0)
      filled.push_back({static_cast<double>(lowerEdge(bin)),
                        static_cast<double>(std::min(upperEdge(bin), largest)),
                        static_cast<double>(bin + 1 < kBins ? lowerEdge(bin + 1) : upperEdge(bin)),
                        static_cast<double>(counts[bin])});
  const auto max = static_cast<float>(numerics::maxValue(element));
  if (filled.empty() || largest / max == 0)
    return largest;
  const auto errorOf = [&](float range) {
    const ScaledRounding rounding(element, range);
    double sum = 0;
    for (const FilledBin& bin : filled)
      sum += bin.count * rounding.error(bin.middle());
    return sum;
  };
  struct Candidate {
    float range;
    double error;
  };
  std::vector<Candidate> candidates;
  const double least = errorOf(largest);
  const auto add = [&](float range) {
    if (range / max == 0)
      return;
    if (const double error = errorOf(range); error < least)
      candidates.push_back({range, error});
  };
  constexpr int kOctaves = 8;
  const std::size_t top = binOf(largest);
  for (std::size_t bin = top; bin-- > 1 && top - bin <= kOctaves * 64;)
    add(upperEdge(bin));
  for (int octave = 1; octave <= kOctaves; ++octave)
    add(std::ldexp(largest, -octave));
  std::ranges::sort(candidates, {},
                    [](const Candidate& each) { return std::pair(each.error, -each.range); });
  const ScaledRounding ofAmax(element, largest);
  const auto losesNoMore = [&](float range) {
    const ScaledRounding rounding(element, range);
    LikelyLoss likely(rounding, ofAmax);
    for (const FilledBin& bin : filled)
      likely.add(bin);
    if (likely.isNone())
      return true;
    double more = 0;
    for (const FilledBin& bin : filled)
      more += bin.count * mostLost(rounding, ofAmax, bin.low, bin.high);
    return more <= 0;
  };
  for (const Candidate& each : candidates)
    if (losesNoMore(each.range))
      return each.range;
  return largest;
}

} // namespace octavo::analysis
