// The products of a batch.
#pragma once

#include "octavo/Kernels/Product/PlainProduct.h"
#include "octavo/Program/Steps/BatchExtent.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace octavo::program {

struct MatrixBatch {
  std::vector<kernels::BatchOffsets> offsets;
  /// How much farther these lie for each item of the run, and for each pair of items; empty: all
  /// are where they are.
  std::vector<kernels::BatchOffsets> factors = {}, squares = {};
  /// Whether the products are those of one item; from item to item all lie `item` farther.
  bool isOpen = false;
  kernels::BatchOffsets item = {};

  bool isOne() const { return !isOpen && offsets.size() == 1; }
  bool dependsOnItems() const { return isOpen || !factors.empty(); }
  BatchExtent products() const {
    const auto count = static_cast<std::int64_t>(offsets.size());
    return isOpen ? BatchExtent{0, count} : BatchExtent{count};
  }
  /// Where a product begins that is known by its number.
  BatchExtent begin(std::size_t number, std::ptrdiff_t kernels::BatchOffsets::* side) const {
    if (factors.empty())
      return offsets[number].*side;
    return {offsets[number].*side, factors[number].*side, squares[number].*side};
  }
  /// Of a product of a run of so many items.
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
