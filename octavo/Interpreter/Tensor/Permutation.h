// The order in which the elements of each line along an axis come when they are sorted.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

#include <cstdint>
#include <span>
#include <vector>

namespace octavo::interpreter {

class Permutation {
public:
  /// Elements as they are in a tensor of `shape`, in lines along `axis`.
  Permutation(std::span<const std::int64_t> shape, std::int64_t axis);

  std::int64_t lines() const { return count; }

  /// The numbers of the elements of one line, in the order that they have so far.
  std::span<std::int64_t> line(std::int64_t i) {
    return std::span(order).subspan(static_cast<std::size_t>(i * length),
                                    static_cast<std::size_t>(length));
  }

  /// Sorts each line by the first key, ties by the next ones, and last by where they are: stable.
  void sort(std::span<const std::vector<std::int64_t>> keys);

  /// The elements of a tensor of the shape in this order; of each line the first `kept`.
  Tensor apply(const Tensor& tensor, std::int64_t kept) const;
  Tensor apply(const Tensor& tensor) const { return apply(tensor, length); }

private:
  std::vector<std::int64_t> shape;
  std::int64_t axis;
  std::int64_t length; ///< elements of a line
  std::int64_t count;  ///< lines
  std::int64_t inner;  ///< from one element of a line to the next
  std::vector<std::int64_t> order;
};

} // namespace octavo::interpreter
