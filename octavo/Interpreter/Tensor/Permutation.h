// A sorted order of the elements of each line along an axis.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

#include <cstdint>
#include <span>
#include <vector>

namespace octavo::interpreter {

/// Element numbers of a tensor, reordered within each line.
class Permutation {
public:
  /// The identity order for a tensor of `shape`, with lines along `axis`.
  Permutation(std::span<const std::int64_t> shape, std::int64_t axis);

  /// The number of lines.
  std::int64_t lines() const { return count; }

  /// The element numbers of line i, in their current order.
  std::span<std::int64_t> line(std::int64_t i) {
    return std::span(order).subspan(static_cast<std::size_t>(i * length),
                                    static_cast<std::size_t>(length));
  }

  /// Sorts each line by the first key, ties by the next keys, then by position: the sort is stable.
  void sort(std::span<const std::vector<std::int64_t>> keys);

  /// The elements of a tensor of that shape in this order, the first `kept` of each line.
  Tensor apply(const Tensor& tensor, std::int64_t kept) const;
  Tensor apply(const Tensor& tensor) const { return apply(tensor, length); }

private:
  std::vector<std::int64_t> shape;
  std::int64_t axis;
  std::int64_t length; ///< elements in a line
  std::int64_t count;  ///< number of lines
  std::int64_t inner;  ///< stride between elements in a line
  std::vector<std::int64_t> order;
};

} // namespace octavo::interpreter
