// How far the values of one tensor are from those of another.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// Of the pairs added so far. Sums are of f64 in an order that is fixed: four lanes over the values
/// of a call, then call after call; they are the same on every machine. +0 is -0, and NaN is NaN; a
/// pair of which one alone is NaN or infinite, or that has two infinities, differs infinitely.
class Comparison {
public:
  /// Adds `n` pairs. One thread.
  void add(const float* values, const float* others, std::size_t n,
           const Execution& execution = {});
  /// Adds those of another piece.
  void add(const Comparison& other);

  std::uint64_t differing() const { return differences; }
  /// Of those, where one is NaN or infinite.
  std::uint64_t notFinite() const { return infinite; }
  /// The largest |value - other|, and the largest |value| that is finite.
  double largestError() const { return greatestError; }
  double amax() const { return greatestValue; }
  /// The largest |value - other| / |value| over values that are not 0, to an ulp.
  double largestRatio() const { return greatestRatio; }
  double errorSquares() const { return errors; }
  double valueSquares() const { return squares; } ///< of those that are finite

private:
  void addNotFinite(float value, float other);

  std::uint64_t differences = 0, infinite = 0;
  double greatestError = 0, greatestValue = 0, greatestRatio = 0, errors = 0, squares = 0;
};

} // namespace octavo::kernels
