// How the range of a static scale follows from calibrated magnitudes.
#pragma once

#include "octavo/Analysis/Magnitudes.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace octavo::analysis {

/// The magnitude that the largest value of an element format represents; larger ones saturate.
struct RangeChoice {
  enum class Kind : std::uint8_t {
    Amax,         ///< the largest magnitude
    Percentile,   ///< Magnitudes::percentile
    LeastSquares, ///< Magnitudes::leastSquaresRange
  };
  Kind kind = Kind::Amax;
  double percent = 100; ///< for Percentile: above 0, at most 100

  /// The range for these magnitudes and this format.
  float of(const Magnitudes& magnitudes, const format::ElementFormat& element) const;

  friend bool operator==(const RangeChoice&, const RangeChoice&) = default;
};

/// The spellings of choices, for messages.
inline constexpr std::string_view kRangeSpellings = "amax, percentile:P, mse";

/// The choice of a spelling; nullopt if it is unknown or its number is out of range.
std::optional<RangeChoice> findRangeChoice(std::string_view spelling);

} // namespace octavo::analysis
