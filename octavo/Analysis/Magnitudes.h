// How the magnitudes of a tensor's values are spread: what a calibration keeps of the tensors that
// it sees, and the ranges for static scales that follow.
#pragma once

#include "octavo/Format/ElementFormat.h"
#include "octavo/Kernels/Execution.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace octavo::analysis {

/// The largest magnitude, and how many magnitudes lie in each bin. A bin is the f32s of equal
/// exponent and equal leading six bits of the trailing significand: 64 bins an octave, each at most
/// 1/64 wide of its lower edge. Bins do not depend on the values, so that figures of parts add up
/// to those of the whole, in any order. Bin 0 has zero and the subnormals below 2^-132.
class Magnitudes {
public:
  static constexpr int kBitsBelowBin = 17;
  static constexpr std::size_t kBins = 0x7F800000U >> kBitsBelowBin;

  /// Adds finite values. Returns the index of the first that is not, if there is one; nothing is
  /// then added.
  std::optional<std::size_t> add(std::span<const float> values,
                                 const kernels::Execution& execution = {});
  void merge(const Magnitudes& other);

  /// Of that many values each in a bin, with their largest magnitude. `bins` begins with the bin
  /// `first`; nothing where it goes beyond the last one, a sum is beyond 2^63, or the largest
  /// magnitude does not lie in the last bin that has values.
  static std::optional<Magnitudes> of(float amax, std::size_t first,
                                      std::span<const std::uint64_t> bins);

  std::uint64_t count() const { return total; }
  float amax() const { return largest; }
  /// One a bin; empty where nothing was added.
  std::span<const std::uint64_t> bins() const { return counts; }

  /// The least upper edge of a bin, but at most amax, that at least `percent` percent of the values
  /// do not exceed, without those of bin 0, which any range holds, as padding has them: the
  /// nearest-rank percentile, by less than 1/64 of itself too large at most. amax where there are
  /// no others. 0 < percent <= 100.
  float percentile(double percent) const;

  /// Of amax and the upper edges of the bins in the eight octaves below, the range R whose scale
  /// R / max, in f32, gives the least mean square of the differences when values are rounded to
  /// `element`, ties to even, saturating; each value taken as the middle of its bin. The largest of
  /// several. Only ranges count that lose no more than amax: wherever in their bins the values lie,
  /// or wherever f32, bf16 and narrower values lie in them, by four standard deviations. Halves,
  /// quarters, ... of amax are tried besides the edges: a float rounds as finely under them.
  float leastSquaresRange(const format::ElementFormat& element) const;

  friend bool operator==(const Magnitudes&, const Magnitudes&) = default;

private:
  std::uint64_t total = 0;
  float largest = 0;
  std::vector<std::uint64_t> counts;
};

} // namespace octavo::analysis
