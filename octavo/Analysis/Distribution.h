// Values to measure on: random samples of a stated distribution, the same on every machine up to
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

/// Uniform on [low, high). low < high, both finite values of f32.
struct Uniform {
  double low;
  double high;
  friend bool operator==(const Uniform&, const Uniform&) = default;
};

/// Mean 0, deviation 1.
struct Normal {
  friend bool operator==(const Normal&, const Normal&) = default;
};

/// Student's t, the heavy-tailed one: its density falls as |x|^-(degrees + 1).
/// degrees >= 0.1: below, a value of f64 would not do.
struct StudentT {
  double degrees;
  friend bool operator==(const StudentT&, const StudentT&) = default;
};

using Distribution = std::variant<Uniform, Normal, StudentT>;

/// How distributions are spelled, for messages.
inline constexpr std::string_view kDistributionSpellings =
    "uniform:LOW,HIGH, normal, student-t:DEGREES";

/// The distribution of that spelling; nothing if it is none.
std::optional<Distribution> findDistribution(std::string_view spelling);

/// Its spelling.
std::string distributionName(const Distribution& distribution);

/// `n` samples as f32. The generator is SplitMix64 with the state `seed`; its output i, counted
/// from 0, gives sample i of Uniform (low + (high - low) * u, u the upper 53 bits times 2^-53), and
/// outputs 2 i and 2 i + 1, as u in (0, 1] and v in [0, 1), sample i of the others: Normal by Box
/// and Muller, sqrt(-2 ln u) cos(2 pi v); StudentT by Bailey, sqrt(degrees (u^(-2 / degrees) - 1))
/// cos(2 pi v). What is beyond f32 becomes its largest value.
std::vector<float> samples(const Distribution& distribution, std::size_t n, std::uint64_t seed,
                           const kernels::Execution& execution = {});

} // namespace octavo::analysis
