#include "octavo/Kernels/Comparison.h"

#include "octavo/Kernels/ComparisonRuns.h"

#include <limits>
#include <numeric>

namespace octavo::kernels {

void Comparison::addNotFinite(float value, float other) {
  if (std::isfinite(value)) {
    greatestValue = std::max(greatestValue, std::fabs(double{value}));
    squares += double{value} * value;
  }
  if (value == other || (std::isnan(value) && std::isnan(other)))
    return;
  ++differences;
  ++infinite;
  greatestError = greatestRatio = errors = std::numeric_limits<double>::infinity();
}

void Comparison::add(const float* values, const float* others, std::size_t n,
                     const Execution& execution) {
  const ComparisonLanes lanes =
      compareRuns(values, others, n, execution.isa, greatestRatio,
                  [&](float value, float other) { addNotFinite(value, other); });
  errors += sumOf(lanes.errorSquares);
  squares += sumOf(lanes.valueSquares);
  greatestError = std::max(greatestError, std::ranges::max(lanes.largestError));
  greatestValue = std::max(greatestValue, std::ranges::max(lanes.largestValue));
  differences += static_cast<std::uint64_t>(
      std::accumulate(std::begin(lanes.differing), std::end(lanes.differing), std::int64_t{0}));
}

void Comparison::add(const Comparison& other) {
  differences += other.differences;
  infinite += other.infinite;
  greatestError = std::max(greatestError, other.greatestError);
  greatestValue = std::max(greatestValue, other.greatestValue);
  greatestRatio = std::max(greatestRatio, other.greatestRatio);
  errors += other.errors;
  squares += other.squares;
}

} // namespace octavo::kernels
