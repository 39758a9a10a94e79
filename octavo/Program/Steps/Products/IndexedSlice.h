// Which slice of a weight a product takes: a layer of a stack, or an expert. Each slice is packed
// once by itself.
#pragma once

#include "octavo/Program/Steps/StartIndex.h"

#include <cstdint>
#include <vector>

namespace octavo::program {

class ProgramFields;

/// A slice chosen by one computed index per axis. Without axes there is one slice.
struct IndexedSlice {
  /// `count` slices along an axis; `index` selects one.
  struct Axis {
    std::int64_t count = 1;
    StartIndex index = {};
    /// The batch's product p reads integer first + p * stride of `index`; stride 0: all products
    /// read the same one.
    std::int64_t first = 0, stride = 0;
  };
  std::vector<Axis> axes; ///< the last axis is the innermost

  std::int64_t count() const {
    std::int64_t slices = 1;
    for (const Axis& axis : axes)
      slices *= axis.count;
    return slices;
  }
  /// Whether the products of a batch may take different slices.
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
  /// `products` is the size of the batch of products.
  void fields(ProgramFields& fields, const BatchExtent& products);
};

} // namespace octavo::program
