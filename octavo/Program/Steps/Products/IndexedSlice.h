// Which of several slices of a weight, each packed once for itself, a product takes: that of a
// layer in a stack, or of an expert.
#pragma once

#include "octavo/Program/Steps/StartIndex.h"

#include <cstdint>
#include <vector>

namespace octavo::program {

class ProgramFields;

/// Slices that lie along axes, of each of which the program computes an index; one, where there is
/// no axis.
struct IndexedSlice {
  struct Axis {
    std::int64_t count = 1;
    StartIndex index = {};
    /// Among the integers of the index: that of a batch's first product, and how far that of the
    /// next one is from it; 0: all have the same.
    std::int64_t first = 0, stride = 0;
  };
  std::vector<Axis> axes; ///< the last one is the innermost

  std::int64_t count() const {
    std::int64_t slices = 1;
    for (const Axis& axis : axes)
      slices *= axis.count;
    return slices;
  }
  /// Whether products of one batch may take different ones.
  bool isOfProduct() const {
    return std::ranges::any_of(axes, [](const Axis& axis) { return axis.stride != 0; });
  }
  std::int64_t of(const Frame& frame, std::int64_t product = 0) const {
    std::int64_t slice = 0;
    for (const Axis& axis : axes)
      slice = slice * axis.count +
              axis.index.of(frame, axis.count - 1, axis.first + product * axis.stride);
    return slice;
  }
  /// `products` are those of the batch.
  void fields(ProgramFields& fields, const BatchExtent& products);
};

} // namespace octavo::program
