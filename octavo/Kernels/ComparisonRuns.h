// Comparison of pairs in runs: a scalar loop looks only at runs that the kernel flags.
#pragma once

#include "octavo/Kernels/KernelTable.h"

#include <algorithm>
#include <cmath>

namespace octavo::kernels {

/// Pairs of a run: the scalar loop looks at all of a flagged run.
inline constexpr std::size_t kComparedRun = 256;

/// The lanes of `n` pairs. Raises `largestRatio` to the largest |error| / |value| of the pairs with
/// a finite error, and calls `notFinite(value, other)` for the other pairs.
template <typename NotFinite>
ComparisonLanes compareRuns(const float* values, const float* others, std::size_t n, Isa isa,
                            double& largestRatio, const NotFinite& notFinite) {
  KernelTable::Compare* const kernel = kernelTable(isa).compare;
  ComparisonLanes lanes;
  for (std::size_t begin = 0; begin < n; begin += kComparedRun) {
    const std::size_t end = std::min(begin + kComparedRun, n);
    const ComparisonFlags flags =
        kernel(values + begin, others + begin, end - begin, largestRatio, lanes);
    if (!flags.hasLargerRatio && !flags.hasNotFinite)
      continue;
    for (std::size_t i = begin; i < end; ++i) {
      const double value = values[i], error = std::fabs(value - others[i]);
      if (!std::isfinite(error))
        notFinite(values[i], others[i]);
      else if (value != 0)
        largestRatio = std::max(largestRatio, error / std::fabs(value));
    }
  }
  return lanes;
}

inline double sumOf(const double (&lanes)[ComparisonLanes::kLanes]) {
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

} // namespace octavo::kernels
