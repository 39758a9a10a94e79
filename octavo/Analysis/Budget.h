// What may be lost: a metric of a program's outputs and its bound, as users write it.
#pragma once

#include <tl/expected.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::analysis {

enum class Metric : std::uint8_t {
  Cosine,   ///< of each row of an output with the reference's; the worst counts
  Relative, ///< |value - reference| / |reference| of an output, 2-norms; the worst counts
  Sqnr,     ///< the same as a ratio in dB: -20 log10(relative)
  Maximum,  ///< the largest |value - reference|
  Own,      ///< a number that the user computes from the outputs
};

struct MetricRow {
  Metric metric;
  std::string_view name;
  bool isAtLeast; ///< a budget bounds it from below; of Own the budget says which
  std::string_view summary;
};

inline constexpr auto kMetrics = std::to_array<MetricRow>({
    {Metric::Cosine, "cosine", true, "of each row of an output with f32's, the worst"},
    {Metric::Relative, "relative", false, "|value - f32| / |f32| of an output, the worst"},
    {Metric::Sqnr, "sqnr", true, "signal to quantization noise of an output, in dB, the worst"},
    {Metric::Maximum, "max", false, "the largest |value - f32|"},
    {Metric::Own, "metric", true, "the number that --metric prints, in Python the callable gives"},
});

struct Budget {
  Metric metric;
  bool isAtLeast; ///< the value is to be at least the bound; else at most
  double bound;
};

/// Reads `METRIC >= NUMBER` or `METRIC <= NUMBER`. The error says what was expected: an unknown
/// metric, with near names; a bound from the wrong side; a bound that nothing or everything meets;
/// what is no number. `hasOwn`: whether the user gives the metric Own.
tl::expected<Budget, std::string> parseBudget(std::string_view text, bool hasOwn);

std::string_view nameOf(Metric metric);
/// `cosine >= 0.99`
std::string text(const Budget& budget);

/// A metric as a loss: 0 for what the reference gives, more is worse, and the losses of independent
/// small errors add up. `origin` is the metric Own of the reference; the others' is not used.
double lossOf(const Budget& budget, double value, double origin);
double valueOf(const Budget& budget, double loss, double origin);

} // namespace octavo::analysis
