// The mean relative errors that the XLA RFC "Microscaling (MX) types in XLA" (openxla discussion
// 18085, section Analysis) gives for "an uniform distribution", whose range it does not give, and
// the ranges that give them.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Execution.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace octavo::analysis {

/// A printed figure: it stands for every error that rounds to it.
struct PublishedError {
  std::string_view format;
  double percent;
  double unit; ///< of its last digit, in percent

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

/// The bounds a of U(-a, a) that are tried: 1.00, 1.01 ... 1.99. These are all there are: with 2 a
/// every scale doubles and the relative errors are the same; a sign changes none, so U(0, a) is
/// U(-a, a).
inline constexpr std::size_t kBoundCount = 100;
constexpr double bound(std::size_t index) { return 1.0 + static_cast<double>(index) / 100; }

/// First and last of neighbouring bounds.
struct BoundRange {
  double first;
  double last;
};

/// The errors of one rule on U(-a, a), for every bound and every figure of kRfcErrors.
struct RangeScan {
  format::ScaleRule rule;
  std::array<std::array<double, kBoundCount>, kRfcErrors.size()> percent;

  /// The bounds that give a figure; empty if no range does.
  std::vector<BoundRange> boundsThatGive(std::size_t figure) const;
  /// How many figures a bound gives.
  std::size_t figuresGivenAt(std::size_t boundIndex) const;
  /// The bound that gives most figures; of several the one whose worst figure is the nearest, in
  /// units of its last digit.
  std::size_t bestBound() const;
};

/// Measures with 2^18 samples (SplitMix64, the same ones for every bound): the sampling error is
/// below a tenth of a unit of the last digit.
RangeScan scanRanges(format::ScaleRule rule, const kernels::Execution& execution = {});

} // namespace octavo::analysis
