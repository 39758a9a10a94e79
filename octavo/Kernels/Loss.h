// What values lose when they are quantized.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <cstddef>

namespace octavo::kernels {

/// Of the values added so far. Sums are of f64 in an order that is fixed, so that they are the same
/// on every machine. A value whose error is NaN has none: it was allowed in.
class Loss {
public:
  /// Adds `n` values and what became of them. One thread.
  void add(const float* values, const float* quantized, std::size_t n,
           const Execution& execution = {});
  /// Adds those of another piece.
  void add(const Loss& other);

  double largest() const { return largestError; }
  /// The largest |error| / |value| of values that are not 0, to an ulp.
  double largestRelative() const { return largestRatio; }
  double errorSquares() const { return errors; }
  double valueSquares() const { return squares; }

private:
  double largestError = 0, largestRatio = 0, errors = 0, squares = 0;
};

} // namespace octavo::kernels
