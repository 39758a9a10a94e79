// Check that values are within the rounding bounds of their blocks.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <cstddef>

namespace octavo::kernels {

/// Bounds of the rounding error in a block.
struct RoundedBlock {
  double relative; ///< bound for a normal rounded value, relative to its magnitude
  double absolute; ///< bound for a subnormal rounded value
  double end;      ///< rounded values of at least this magnitude are at the end of the format
  double clipped;  ///< the largest magnitude that may be rounded to a value at the end
};

/// `n` pairs in blocks of `block` consecutive pairs; the last block may be short.
struct RoundedRun {
  const float* values;
  const float* rounded;
  std::size_t n;
  std::size_t block;
  const RoundedBlock* bounds; ///< one per block
  double* amaxes;             ///< one per block, raised to the largest |value|
};

/// Whether each pair is within the bounds of its block. A pair is within them if
///  - |value - rounded| <= relative * |rounded|, or |value - rounded| <= absolute, or
///  - |rounded| >= end, `rounded` has the value's sign and at most its magnitude, and
///    |value| <= clipped.
/// False if a value is NaN. One thread.
bool areRounded(const RoundedRun& run, const Execution& execution = {});

} // namespace octavo::kernels
