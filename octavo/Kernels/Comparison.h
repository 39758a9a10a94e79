// Statistics of the differences between the values of two tensors.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// Statistics of the pairs added so far. Sums are in f64 and in a fixed order, four lanes over the
/// values of a call, then call after call, so they are the same on every machine. +0 equals -0, and
/// NaN equals NaN. Any other pair with a NaN or an infinity differs infinitely, unless both values
/// are the same infinity.
class Comparison {
public:
  /// Adds `n` pairs. One thread.
  void add(const float* values, const float* others, std::size_t n,
           const Execution& execution = {});
  /// Adds the statistics of another piece.
  void add(const Comparison& other);

  std::uint64_t differing() const { return differences; }
  /// The differing pairs with a NaN or an infinity.
  std::uint64_t notFinite() const { return infinite; }
  /// The largest |value - other|.
  double largestError() const { return greatestError; }
  /// The largest finite |value|.
  double amax() const { return greatestValue; }
  /// The largest |value - other| / |value| over values that are not 0, within an ulp.
  double largestRatio() const { return greatestRatio; }
  double errorSquares() const { return errors; }
  double valueSquares() const { return squares; } ///< over finite values

private:
  void addNotFinite(float value, float other);

  std::uint64_t differences = 0, infinite = 0;
  double greatestError = 0, greatestValue = 0, greatestRatio = 0, errors = 0, squares = 0;
};

} // namespace octavo::kernels
