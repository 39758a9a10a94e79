// Statistics of the errors that quantization makes.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <cstddef>

namespace octavo::kernels {

/// Statistics of the values added so far. Sums are in f64 and in a fixed order, so they are the
/// same on every machine. A value whose error is NaN does not count: the quantization accepted it.
class Loss {
public:
  /// Adds `n` values and their quantized values. One thread.
  void add(const float* values, const float* quantized, std::size_t n,
           const Execution& execution = {});
  /// Adds the statistics of another piece.
  void add(const Loss& other);

  double largest() const { return largestError; }
  /// The largest |error| / |value| of values that are not 0, within an ulp.
  double largestRelative() const { return largestRatio; }
  double errorSquares() const { return errors; }
  double valueSquares() const { return squares; }

private:
  double largestError = 0, largestRatio = 0, errors = 0, squares = 0;
};

} // namespace octavo::kernels
