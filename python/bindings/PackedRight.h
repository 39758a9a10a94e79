// A weight in the layout of the product kernels, kept between products.
#pragma once

#include "octavo/Kernels/Product/Product.h"

#include <memory>
#include <mutex>

namespace octavo::python {

/// Which left operands a packed weight serves.
struct PackedRightKey {
  const format::ElementFormat* leftElement;
  const format::ElementFormat* leftScale;
  std::int64_t leftAlong;
  bool alongAxis; ///< K is the tensor's axis; a weight of square blocks can be packed either way

  friend bool operator==(const PackedRightKey&, const PackedRightKey&) = default;
};

/// The last such packing of a matrix.
struct PackedRight {
  std::mutex mutex;
  PackedRightKey key = {};
  std::shared_ptr<const kernels::PackedOperand> operand;
};

} // namespace octavo::python
