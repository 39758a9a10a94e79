// The mean relative errors that the XLA RFC "Microscaling (MX) types in XLA" (openxla discussion
// 18085, section Analysis) gives for "an uniform distribution", and the ranges of that distribution
// that reproduce them. The RFC does not give the range.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Execution.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace octavo::analysis {

/// A printed figure. Every error that rounds to it agrees with it.
struct PublishedError {
  std::string_view format;
  double percent;
  double unit; ///< of the last digit, in percent

  bool isGivenBy(double errorPercent) const {
    return percent - unit / 2 <= errorPercent && errorPercent < percent + unit / 2;
  }
};

inline constexpr auto kRfcErrors = std::to_array<PublishedError>({
    {"mxfp8_e5m2", 4.7, 0.1},
    {"mxfp8_e4m3", 2.4, 0.1},
    {"mxfp6_e3m2", 5.0, 0.1},
    {"mxfp6_e2m3", 5.0, 0.1},
    {"mxfp4", 16, 1},
});

/// The bounds a of U(-a, a) that are tried: 1.00, 1.01 ... 1.99. Others would add nothing: 2 a
/// doubles every scale and leaves the relative errors, and a sign changes none, so U(0, a) is U(-a,
/// a).
inline constexpr std::size_t kBoundCount = 100;
constexpr double bound(std::size_t index) { return 1.0 + static_cast<double>(index) / 100; }

/// The first and last of adjacent bounds.
struct BoundRange {
  double first;
  double last;
};

/// The errors of one rule on U(-a, a), for every bound a and every figure of kRfcErrors.
struct RangeScan {
  format::ScaleRule rule;
  std::array<std::array<double, kBoundCount>, kRfcErrors.size()> percent;

  /// The bounds that reproduce a figure; empty if none does.
  std::vector<BoundRange> boundsThatGive(std::size_t figure) const;
  /// How many figures a bound reproduces.
  std::size_t figuresGivenAt(std::size_t boundIndex) const;
  /// The index of the bound that reproduces most figures. Among equals: the one whose worst figure
  /// is nearest, in units of the figure's last digit.
  std::size_t bestBound() const;
};

/// Measures on 2^18 samples (SplitMix64), the same for every bound. The sampling error is below a
/// tenth of a unit of the last digit.
RangeScan scanRanges(format::ScaleRule rule, const kernels::Execution& execution = {});

} // namespace octavo::analysis
