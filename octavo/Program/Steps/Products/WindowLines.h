// The left operand of a convolution as rows in pieces. A piece is a run of an input line that
// neighbouring windows share, so patches need not be laid out.
#pragma once

#include "octavo/Program/Steps/Products/Convolution.h"

#include <cstdint>
#include <vector>

namespace octavo::program {

/// Reads input lines in place if it can. Else it copies a line once for the result rows that see
/// it, with padding and dilation zeros, and with the features of one group contiguous.
class WindowLines {
public:
  /// `values` is the f32 input. `group` selects the features or images of one group.
  WindowLines(const PatchShape& shape, const float* values, std::int64_t group);
  /// Whether the runs are long enough, and padded lines short enough, for this to be faster than
  /// patches.
  static bool isWorthIt(const PatchShape& shape);
  /// How many result rows to compute at a time, so that their lines and results fit in the
  /// second-level cache.
  static std::int64_t rowsAtATime(const PatchShape& shape);
  /// The pieces for result rows [begin, end). Valid until the next call on this thread.
  kernels::PiecedRows of(std::int64_t begin, std::int64_t end);

private:
  struct Memory;
  void copyLine(const float* line, std::int64_t first, std::int64_t count, float* to) const;

  const PatchShape& shape;
  const PatchAxis& inner;
  const float* values;
  std::int64_t firstImage;
  bool isInPlace;
  std::int64_t spacing; ///< elements from one position of a line to the next
};

} // namespace octavo::program
