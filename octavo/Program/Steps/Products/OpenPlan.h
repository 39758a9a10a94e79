// The plan of a product whose depth may depend on the batch size.
#pragma once

#include "octavo/Kernels/Product/ProductPlan.h"
#include "octavo/Program/Steps/BatchExtent.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>

namespace octavo::program {

/// The formats of both operands and the depth, as functions of the batch size.
struct OpenPlan {
  /// The plan for the fixed depth, or for one depth of an open batch.
  kernels::ProductPlan one = {};
  BatchExtent depth;
  BatchExtent leftAlong, rightAlong; ///< extents of blocks along the depth; they may span all of it

  OpenPlan() = default;
  OpenPlan(kernels::ProductPlan plan)
      : one(std::move(plan)), depth(one.depth), leftAlong(one.left.along),
        rightAlong(one.right.along) {}

  bool isOpen() const { return depth.isOpen(); }
  kernels::OperandFormat left(std::int64_t items) const;
  kernels::OperandFormat right(std::int64_t items) const;
  /// The plan at batch size `items`. Fails if kernels cannot sum a depth of that size exactly.
  tl::expected<kernels::ProductPlan, std::string> of(std::int64_t items) const;
};

} // namespace octavo::program
