// Where the operands and results of a batch of matrix products lie.
#pragma once

#include "octavo/Kernels/Product/PlainProduct.h"
#include "octavo/Program/Steps/BatchExtent.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace octavo::program {

/// The offsets of each product's operands and result, in elements.
struct MatrixBatch {
  std::vector<kernels::BatchOffsets> offsets;
  /// Coefficients by which the offsets grow with the batch size and its square. Empty: the offsets
  /// are constant.
  std::vector<kernels::BatchOffsets> factors = {}, squares = {};
  /// Whether `offsets` are the products of one sample; those of sample i are `item` * i farther.
  bool isOpen = false;
  kernels::BatchOffsets item = {};

  bool isOne() const { return !isOpen && offsets.size() == 1; }
  bool dependsOnItems() const { return isOpen || !factors.empty(); }
  BatchExtent products() const {
    const auto count = static_cast<std::int64_t>(offsets.size());
    return isOpen ? BatchExtent{0, count} : BatchExtent{count};
  }
  /// The offset of one operand of product `number`.
  BatchExtent begin(std::size_t number, std::ptrdiff_t kernels::BatchOffsets::* side) const {
    if (factors.empty())
      return offsets[number].*side;
    return {offsets[number].*side, factors[number].*side, squares[number].*side};
  }
  /// The offsets of product `number` at batch size `items`.
  kernels::BatchOffsets at(std::int64_t number, std::int64_t items) const {
    const auto known = static_cast<std::int64_t>(offsets.size());
    const auto first = static_cast<std::size_t>(number % known);
    const std::ptrdiff_t turn = number / known;
    const auto beginOf = [&](std::ptrdiff_t kernels::BatchOffsets::* side) {
      return begin(first, side).of(items) + turn * item.*side;
    };
    return {beginOf(&kernels::BatchOffsets::left), beginOf(&kernels::BatchOffsets::right),
            beginOf(&kernels::BatchOffsets::c)};
  }
};

} // namespace octavo::program
