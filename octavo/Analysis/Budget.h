// A budget for the loss of a program's outputs: a metric and its bound, as users write them.
#pragma once

#include <tl/expected.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::analysis {

enum class Metric : std::uint8_t {
  Cosine,   ///< of each row of an output and the reference's; the worst counts
  Relative, ///< |value - reference| / |reference| of an output, 2-norms; the worst counts
  Sqnr,     ///< the same as a ratio in dB: -20 log10(relative)
  Maximum,  ///< the largest |value - reference|
  Own,      ///< a number that the user computes from the outputs
};

/// A metric's name and help text.
struct MetricRow {
  Metric metric;
  std::string_view name;
  bool isAtLeast; ///< a budget bounds it from below; for Own, the budget says which
  std::string_view summary;
};

inline constexpr auto kMetrics = std::to_array<MetricRow>({
    {Metric::Cosine, "cosine", true, "of each row of an output with f32's, the worst"},
    {Metric::Relative, "relative", false, "|value - f32| / |f32| of an output, the worst"},
    {Metric::Sqnr, "sqnr", true, "signal to quantization noise of an output, in dB, the worst"},
    {Metric::Maximum, "max", false, "the largest |value - f32|"},
    {Metric::Own, "metric", true, "the number that --metric prints, in Python the callable gives"},
});

/// The condition that a metric must meet.
struct Budget {
  Metric metric;
  bool isAtLeast; ///< value >= bound; else value <= bound
  double bound;
};

/// Reads `METRIC >= NUMBER` or `METRIC <= NUMBER`. `hasOwn`: whether the user supplies the metric
/// Own. Fails, saying what was expected, for:
/// - an unknown metric, with near names
/// - a bound from the wrong side
/// - a bound that nothing or everything meets
/// - text that is not a number
tl::expected<Budget, std::string> parseBudget(std::string_view text, bool hasOwn);

/// The metric's name in kMetrics.
std::string_view nameOf(Metric metric);
/// A budget as users write it, for example `cosine >= 0.99`.
std::string text(const Budget& budget);

/// Converts a metric's value to a loss and back. The loss is 0 for the reference's outputs, and
/// greater is worse; losses of small independent errors add up. `origin` is the value of Own for
/// the reference; other metrics ignore it.
double lossOf(const Budget& budget, double value, double origin);
double valueOf(const Budget& budget, double loss, double origin);

} // namespace octavo::analysis
