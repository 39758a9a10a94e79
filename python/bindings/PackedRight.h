// The packed form of a right operand, which a ScaledTensor keeps between products.
#pragma once

#include "octavo/Kernels/Product/Product.h"

#include <memory>
#include <mutex>

namespace octavo::python {

/// The left operands for which a packed right operand is valid.
struct PackedRightKey {
  const format::ElementFormat* leftElement;
  const format::ElementFormat* leftScale;
  std::int64_t leftAlong;
  bool alongAxis; ///< whether K is the tensor's axis: square blocks can be packed along either axis

  friend bool operator==(const PackedRightKey&, const PackedRightKey&) = default;
};

/// The last packing of a matrix, and its key.
struct PackedRight {
  std::mutex mutex;
  PackedRightKey key = {};
  std::shared_ptr<const kernels::PackedOperand> operand;
};

} // namespace octavo::python
