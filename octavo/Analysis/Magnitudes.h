// The distribution of the magnitudes of a tensor: what a calibration keeps of each tensor, and the
// ranges for static scales that follow from it.
#pragma once

#include "octavo/Format/ElementFormat.h"
#include "octavo/Kernels/Execution.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace octavo::analysis {

/// A histogram of magnitudes, and the largest. A bin has the f32 values of equal exponent and equal
/// leading six bits of the trailing significand: 64 bins an octave, each at most 1/64 of its lower
/// edge wide. Bins do not depend on the values, so histograms of parts add up to that of the whole,
/// in any order. Bin 0 has zero and the subnormals below 2^-132.
class Magnitudes {
public:
  static constexpr int kBitsBelowBin = 17;
  static constexpr std::size_t kBins = 0x7F800000U >> kBitsBelowBin;

  /// Adds finite values. If a value is not finite, returns the index of the first such value and
  /// adds nothing.
  std::optional<std::size_t> add(std::span<const float> values,
                                 const kernels::Execution& execution = {});
  /// Adds the values of another histogram.
  void merge(const Magnitudes& other);

  /// The histogram with these counts, from bin `first` on, and this largest magnitude. nullopt if
  /// there are too many bins, the counts sum to 2^63 or more, or `amax` is not in the last filled
  /// bin.
  static std::optional<Magnitudes> of(float amax, std::size_t first,
                                      std::span<const std::uint64_t> bins);

  /// How many values were added.
  std::uint64_t count() const { return total; }
  /// Their largest magnitude; 0 without values.
  float amax() const { return largest; }
  /// The count of each bin; empty if nothing was added.
  std::span<const std::uint64_t> bins() const { return counts; }

  /// The nearest-rank percentile, at most 1/64 of itself too large: the lowest upper edge of a bin
  /// that at least `percent` percent of the values do not exceed, but at most amax. Values in bin
  /// 0, such as padding, do not count. amax if there are no other values. 0 < percent <= 100.
  float percentile(double percent) const;

  /// The range R whose scale R / max, in f32, gives the least mean squared error when values are
  /// rounded to `element` (ties to even, saturating). Each value is taken as the middle of its bin.
  /// Of equal errors, the largest range.
  ///
  /// Candidates are amax, the upper edges of the bins in the eight octaves below it, and amax / 2,
  /// / 4, ..., under which a float rounds as finely. A range below amax counts only if it loses no
  /// more than amax: either wherever in their bins the values lie, or by four standard deviations
  /// if they lie there as f32, bf16 or narrower values do.
  float leastSquaresRange(const format::ElementFormat& element) const;

  friend bool operator==(const Magnitudes&, const Magnitudes&) = default;

private:
  std::uint64_t total = 0;
  float largest = 0;
  std::vector<std::uint64_t> counts;
};

} // namespace octavo::analysis
