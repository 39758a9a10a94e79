// How the range of a static scale is chosen from the magnitudes that a calibration saw.
#pragma once

#include "octavo/Analysis/Magnitudes.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace octavo::analysis {

/// The magnitude that the largest value of an element format stands for; larger ones saturate.
struct RangeChoice {
  enum class Kind : std::uint8_t {
    Amax,         ///< the largest one
    Percentile,   ///< Magnitudes::percentile
    LeastSquares, ///< Magnitudes::leastSquaresRange
  };
  Kind kind = Kind::Amax;
  double percent = 100; ///< of Percentile: above 0, at most 100

  float of(const Magnitudes& magnitudes, const format::ElementFormat& element) const;

  friend bool operator==(const RangeChoice&, const RangeChoice&) = default;
};

/// How choices are spelled, for messages.
inline constexpr std::string_view kRangeSpellings = "amax, percentile:P, mse";

/// The choice of that spelling; nothing if it is none.
std::optional<RangeChoice> findRangeChoice(std::string_view spelling);

} // namespace octavo::analysis
