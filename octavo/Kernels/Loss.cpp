#include "octavo/Kernels/Loss.h"

#include "octavo/Kernels/KernelTable.h"

#include <algorithm>
#include <cmath>

namespace octavo::kernels {

/// Values whose ratios are found together, or passed over.
static constexpr std::size_t kRun = 256;

static double sum(const double (&lanes)[LossLanes::kLanes]) {
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

void Loss::add(const float* values, const float* quantized, std::size_t n,
               const Execution& execution) {
  KernelTable::AddLoss* const kernel = kernelTable(execution.isa).addLoss;
  LossLanes lanes;
  for (std::size_t begin = 0; begin < n; begin += kRun) {
    const std::size_t end = std::min(begin + kRun, n);
    if (!kernel(values + begin, quantized + begin, end - begin, largestRatio, lanes))
      continue;
    for (std::size_t i = begin; i < end; ++i) {
      const double value = values[i];
      const double error = std::fabs(value - quantized[i]);
      if (error >= 0 && value != 0)
        largestRatio = std::max(largestRatio, error / std::fabs(value));
    }
  }
  errors += sum(lanes.errorSquares);
  squares += sum(lanes.valueSquares);
  largestError = std::max(largestError, std::ranges::max(lanes.largest));
}

void Loss::add(const Loss& other) {
  largestError = std::max(largestError, other.largestError);
  largestRatio = std::max(largestRatio, other.largestRatio);
  errors += other.errors;
  squares += other.squares;
}

} // namespace octavo::kernels
