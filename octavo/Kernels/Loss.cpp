#include "octavo/Kernels/Loss.h"

#include "octavo/Kernels/ComparisonRuns.h"

namespace octavo::kernels {

void Loss::add(const float* values, const float* quantized, std::size_t n,
               const Execution& execution) {
  const auto addInfinite = [&](float value, float restored) {
    const double error = std::fabs(double{value} - restored);
    if (std::isnan(error))
      return;
    largestError = errors = error;
    squares += double{value} * value;
    if (std::isfinite(value) && value != 0)
      largestRatio = error;
  };
  const ComparisonLanes lanes =
      compareRuns(values, quantized, n, execution.isa, largestRatio, addInfinite);
  errors += sumOf(lanes.errorSquares);
  squares += sumOf(lanes.valueSquares);
  largestError = std::max(largestError, std::ranges::max(lanes.largestError));
}

void Loss::add(const Loss& other) {
  largestError = std::max(largestError, other.largestError);
  largestRatio = std::max(largestRatio, other.largestRatio);
  errors += other.errors;
  squares += other.squares;
}

} // namespace octavo::kernels
