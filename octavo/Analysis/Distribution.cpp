#include "octavo/Analysis/Distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

namespace octavo::analysis {

namespace {

/// Output `index` of SplitMix64 (Steele, Lea, Flood 2014). The state grows by a constant, so any
/// output can be computed without those before it.
std::uint64_t splitMix64(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// u in [0, 1).
double fromZero(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// u in (0, 1], which has a logarithm.
double toOne(std::uint64_t bits) { return static_cast<double>((bits >> 11) + 1) * 0x1p-53; }

float limited(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kMost, kMost));
}

double sample(const Uniform& uniform, std::uint64_t seed, std::uint64_t i) {
  return uniform.low + (uniform.high - uniform.low) * fromZero(splitMix64(seed, i));
}

/// The sample with polar coordinates `radius`(u) and 2 pi v.
template <typename Radius> double polarSample(std::uint64_t seed, std::uint64_t i, Radius radius) {
  const double u = toOne(splitMix64(seed, 2 * i));
  const double v = fromZero(splitMix64(seed, 2 * i + 1));
  return radius(u) * std::cos(2 * std::numbers::pi * v);
}

double sample(const Normal&, std::uint64_t seed, std::uint64_t i) {
  return polarSample(seed, i, [](double u) { return std::sqrt(-2 * std::log(u)); });
}

double sample(const StudentT& student, std::uint64_t seed, std::uint64_t i) {
  // expm1, because u^(-2 / degrees) is so near 1 for many degrees that a subtraction would lose it.
  return polarSample(seed, i, [degrees = student.degrees](double u) {
    return std::sqrt(degrees * std::expm1(-2 / degrees * std::log(u)));
  });
}

/// The numbers of "A,B,...", all finite; nullopt for any other text.
std::optional<std::vector<double>> numbers(std::string_view text) {
  std::vector<double> found;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + comma, number);
    if (error != std::errc() || end != text.data() + comma || !std::isfinite(number))
      return std::nullopt;
    found.push_back(number);
    if (comma == text.size())
      return found;
    text.remove_prefix(comma + 1);
  }
}

} // namespace

std::optional<Distribution> findDistribution(std::string_view spelling) {
  if (spelling == "normal")
    return Normal{};
  const std::size_t colon = spelling.find(':');
  if (colon == std::string_view::npos)
    return std::nullopt;
  const std::string_view name = spelling.substr(0, colon);
  const std::optional<std::vector<double>> given = numbers(spelling.substr(colon + 1));
  if (!given)
    return std::nullopt;
  constexpr double kMost = std::numeric_limits<float>::max();
  if (name == "uniform" && given->size() == 2 && -kMost <= (*given)[0] &&
      (*given)[0] < (*given)[1] && (*given)[1] <= kMost)
    return Uniform{(*given)[0], (*given)[1]};
  if (name == "student-t" && given->size() == 1 && (*given)[0] >= 0.1)
    return StudentT{(*given)[0]};
  return std::nullopt;
}

std::string distributionName(const Distribution& distribution) {
  if (const auto* uniform = std::get_if<Uniform>(&distribution))
    return fmt::format("uniform:{},{}", uniform->low, uniform->high);
  if (const auto* student = std::get_if<StudentT>(&distribution))
    return fmt::format("student-t:{}", student->degrees);
  return "normal";
}

std::vector<float> samples(const Distribution& distribution, std::size_t n, std::uint64_t seed,
                           const kernels::Execution& execution) {
  constexpr std::size_t kGrain = 1 << 14;
  std::vector<float> values(n);
  std::visit(
      [&](const auto& kind) {
        kernels::forRanges(n, kGrain, execution, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i)
            values[i] = limited(sample(kind, seed, i));
        });
      },
      distribution);
  return values;
}

} // namespace octavo::analysis
