// What the windows of a convolution see, as rows in pieces: each is a run of a line of the input,
// which neighbouring windows share, so that patches of them need not be laid out.
#pragma once

#include "octavo/Program/Steps/Products/Convolution.h"

#include <cstdint>
#include <vector>

namespace octavo::program {

/// A line of the input is read where it lies, or else copied once for the rows of the result that
/// see it, with its padding, the zeros of its dilation, and the features of one group beside each
/// other.
class WindowLines {
public:
  /// Of f32 `values`, for the rows that see `group`.
  WindowLines(const PatchShape& shape, const float* values, std::int64_t group);
  /// Whether the runs are long enough for a product of pieces to pay.
  static bool isWorthIt(const PatchShape& shape);
  /// So many rows at a time have their lines and their part of the result in the second cache.
  static std::int64_t rowsAtATime(const PatchShape& shape);
  /// Of rows `begin` to `end` of the result; stays until it is asked again on this thread.
  kernels::PiecedRows of(std::int64_t begin, std::int64_t end);

private:
  struct Memory;
  void copyLine(const float* line, std::int64_t first, std::int64_t count, float* to) const;

  const PatchShape& shape;
  const PatchAxis& inner;
  const float* values;
  std::int64_t firstImage;
  bool isInPlace;
  std::int64_t spacing; ///< elements from one place of a line to the next
};

} // namespace octavo::program
