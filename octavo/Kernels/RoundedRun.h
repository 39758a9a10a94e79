// Whether values are as near to others as rounding in blocks leaves them.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <cstddef>

namespace octavo::kernels {

/// How far the values of a block may be from what they were rounded from.
struct RoundedBlock {
  double relative; ///< of the size of a rounded value that is normal
  double absolute; ///< of one that is subnormal
  double end;      ///< a rounded value of this size or more is at the end of its format,
  double clipped;  ///< where values up to this size end up
};

/// `n` pairs in blocks of `block` consecutive ones, the last perhaps short.
struct RoundedRun {
  const float* values;
  const float* rounded;
  std::size_t n;
  std::size_t block;
  const RoundedBlock* bounds; ///< one a block
  double* amaxes;             ///< one a block: raised to the largest |value|
};

/// Whether each pair is within the bounds of its block: |value - rounded| <= relative * |rounded|
/// or <= absolute, or the rounded value is at the end, of the value's sign and no larger than it,
/// and the value is no larger than what is clipped there. False where there is a NaN. One thread.
bool areRounded(const RoundedRun& run, const Execution& execution = {});

} // namespace octavo::kernels
