// Counts the scales of a part: how many are zero, NaN, infinite, negative or subnormal, and the
// distribution of their magnitudes.
#pragma once

#include "octavo/Checkpoint/Layer.h"

#include <tl/expected.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace octavo::checkpoint {

/// Faults of one scale.
enum class ScaleFault : std::uint8_t { Zero, Nan, Inf, Negative, Subnormal };
inline constexpr int kScaleFaults = 5;

/// Number of scales with a magnitude in [2^e, 2^(e+1)), for each exponent e of f32.
struct ScaleHistogram {
  static constexpr int kLowest = -149, kHighest = 127;        ///< exponents of f32
  std::array<std::uint64_t, kHighest - kLowest + 1> counts{}; ///< by exponent - kLowest

  std::uint64_t& operator[](int exponent) { return counts[exponent - kLowest]; }
  std::uint64_t operator[](int exponent) const { return counts[exponent - kLowest]; }
  ScaleHistogram& operator+=(const ScaleHistogram& other);
};

/// Counts of scales. Sums with +=.
struct ScaleCensus {
  std::uint64_t count = 0;
  std::array<std::uint64_t, kScaleFaults> faults{}; ///< counts by ScaleFault
  /// Over the finite, positive scales; smallest > largest if there are none.
  float smallest = std::numeric_limits<float>::infinity();
  float largest = 0;

  std::uint64_t of(ScaleFault fault) const { return faults[static_cast<int>(fault)]; }
  ScaleCensus& operator+=(const ScaleCensus& other);
};

/// Counts the scales of `part` and adds their magnitudes to `histogram`. A scale is subnormal if
/// its own format says so. Byte 0 of E8M0, 2^-127, counts as subnormal too, because readers take it
/// for an f32. Formats wider than f32 are read as f32. Errors of these three functions: reading the
/// file.
tl::expected<ScaleCensus, Error> takeScaleCensus(const Part& part,
                                                 ScaleHistogram* histogram = nullptr);

/// The first `most` scales of `part` as f32, in file order.
tl::expected<std::vector<float>, Error>
readScales(const Part& part, std::size_t most = std::numeric_limits<std::size_t>::max());

/// Index in file order of the first scale with that fault; nullopt if there is none.
tl::expected<std::optional<std::uint64_t>, Error> firstScale(const Part& part, ScaleFault fault);

} // namespace octavo::checkpoint
