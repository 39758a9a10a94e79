#include "octavo/Analysis/RangeChoice.h"

#include <charconv>

namespace octavo::analysis {

float RangeChoice::of(const Magnitudes& magnitudes, const format::ElementFormat& element) const {
  switch (kind) {
  case Kind::Amax:
    return magnitudes.amax();
  case Kind::Percentile:
    return magnitudes.percentile(percent);
  case Kind::LeastSquares:
    return magnitudes.leastSquaresRange(element);
  }
  return magnitudes.amax();
}

std::optional<RangeChoice> findRangeChoice(std::string_view spelling) {
  if (spelling == "amax")
    return RangeChoice{};
  if (spelling == "mse")
    return RangeChoice{.kind = RangeChoice::Kind::LeastSquares};
  constexpr std::string_view kPercentile = "percentile:";
  if (!spelling.starts_with(kPercentile))
    return std::nullopt;
  const std::string_view number = spelling.substr(kPercentile.size());
  RangeChoice choice{.kind = RangeChoice::Kind::Percentile};
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), choice.percent);
  if (error != std::errc() || end != number.data() + number.size() || !(choice.percent > 0) ||
      choice.percent > 100)
    return std::nullopt;
  return choice;
}

} // namespace octavo::analysis
