// How products of two formats run along any depth that items give them.
#pragma once

#include "octavo/Kernels/Product/ProductPlan.h"
#include "octavo/Program/Steps/BatchExtent.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>

namespace octavo::program {

struct OpenPlan {
  /// Of the depth, or of one that it may have.
  kernels::ProductPlan one = {};
  BatchExtent depth;
  BatchExtent leftAlong, rightAlong; ///< the extents of blocks, which may be all of the depth

  OpenPlan() = default;
  OpenPlan(kernels::ProductPlan plan)
      : one(std::move(plan)), depth(one.depth), leftAlong(one.left.along),
        rightAlong(one.right.along) {}

  bool isOpen() const { return depth.isOpen(); }
  kernels::OperandFormat left(std::int64_t items) const;
  kernels::OperandFormat right(std::int64_t items) const;
  /// Why there is none, for more items than kernels add products of exactly.
  tl::expected<kernels::ProductPlan, std::string> of(std::int64_t items) const;
};

} // namespace octavo::program
