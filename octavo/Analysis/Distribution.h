// Random samples of a distribution, to measure errors on. They are the same on every machine up to
// the last bit of the C library's logarithm and cosine.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace octavo::analysis {

/// Uniform on [low, high). low < high; both are finite values of f32.
struct Uniform {
  double low;
  double high;
  friend bool operator==(const Uniform&, const Uniform&) = default;
};

/// Mean 0, standard deviation 1.
struct Normal {
  friend bool operator==(const Normal&, const Normal&) = default;
};

/// Student's t, which is heavy-tailed: its density falls as |x|^-(degrees + 1). degrees >= 0.1:
/// below that, samples would leave f64.
struct StudentT {
  double degrees;
  friend bool operator==(const StudentT&, const StudentT&) = default;
};

using Distribution = std::variant<Uniform, Normal, StudentT>;

/// The spellings of distributions, for messages.
inline constexpr std::string_view kDistributionSpellings =
    "uniform:LOW,HIGH, normal, student-t:DEGREES";

/// The distribution of a spelling; nullopt if it is unknown or its numbers are out of range.
std::optional<Distribution> findDistribution(std::string_view spelling);

/// The spelling of a distribution.
std::string distributionName(const Distribution& distribution);

/// `n` samples as f32. The generator is SplitMix64 with the state `seed`. Samples beyond f32 become
/// its largest value.
/// - Uniform: output i, counted from 0, gives sample i, low + (high - low) * u, where u is its
///   upper 53 bits times 2^-53.
/// - Others: outputs 2 i and 2 i + 1, as u in (0, 1] and v in [0, 1), give sample i.
/// - Normal, by Box and Muller: sqrt(-2 ln u) cos(2 pi v).
/// - StudentT, by Bailey: sqrt(degrees (u^(-2 / degrees) - 1)) cos(2 pi v).
std::vector<float> samples(const Distribution& distribution, std::size_t n, std::uint64_t seed,
                           const kernels::Execution& execution = {});

} // namespace octavo::analysis
