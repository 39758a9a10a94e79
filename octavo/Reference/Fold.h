// Reductions whose body is one scalar operation (rule I10).
#pragma once

#include "octavo/Reference/Map.h"
#include "octavo/Reference/Movement.h"

#include <cstdint>
#include <span>
#include <vector>

namespace octavo::reference {

namespace fold_detail {

/// Calls f(i, j) for each element i of the input, in row-major order, with the element j of the
/// result that it goes to.
template <typename F>
void forEachPair(std::span<const std::int64_t> shape, std::span<const std::int64_t> reduced, F f) {
  std::vector<std::int64_t> kept;
  std::vector<bool> isReduced(shape.size(), false);
  for (std::int64_t axis : reduced)
    isReduced[axis] = true;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (!isReduced[axis])
      kept.push_back(shape[axis]);
  const std::vector<std::int64_t> keptStrides = rowMajorStrides(kept);
  std::vector<std::int64_t> strides;
  for (std::size_t axis = 0, next = 0; axis < shape.size(); ++axis)
    strides.push_back(isReduced[axis] ? 0 : keptStrides[next++]);

  if (numerics::elementCount(shape) == 0)
    return;
  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t i = 0;
  do {
    std::int64_t j = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      j += index[axis] * strides[axis];
    f(i++, j);
  } while (nextIndex(index, shape));
}

template <typename Op, typename Real>
Tensor foldReal(std::span<const Real> input, std::span<const std::int64_t> inputShape, Real init,
                std::span<const std::int64_t> reduced, const ElementFormat& format,
                std::vector<std::int64_t> shape) {
  std::vector<Real> sums(static_cast<std::size_t>(numerics::elementCount(shape)), init);
  forEachPair(inputShape, reduced, [&](std::int64_t i, std::int64_t j) {
    sums[j] =
        static_cast<Real>(Op::real(static_cast<double>(sums[j]), static_cast<double>(input[i])));
  });
  return encodeElements(format, std::move(shape), std::vector<double>(sums.begin(), sums.end()));
}

} // namespace fold_detail

/// Reduces the axes `reduced` of `input` by `Op`, from `init` (rank 0), in row-major order of the
/// input. Floats: in f64 if the result, the input or the body is f64, else in f32, each step
/// rounded; one rounding to `type` at the end. Integers wrap in `type` at each step. `shape` is the
/// result's. Requires isDefinedOn<Op>(type).
template <typename Op>
Tensor fold(const Tensor& input, const Tensor& init, std::span<const std::int64_t> reduced,
            const ElementType& type, std::vector<std::int64_t> shape) {
  if (type.isFloat()) {
    if constexpr (RealOperation<Op>) {
      if (type == kF64 || input.type == kF64)
        return fold_detail::foldReal<Op, double>(decodeElements(input), input.shape,
                                                 decodeElements(init).front(), reduced,
                                                 type.format(), std::move(shape));
      return fold_detail::foldReal<Op, float>(decodeToF32(input), input.shape,
                                              decodeToF32(init).front(), reduced, type.format(),
                                              std::move(shape));
    }
  } else if constexpr (IntegerOperation<Op>) {
    const IntegerType integer = type.integer();
    const std::vector<std::uint64_t> values = decodeIntegers(input);
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(numerics::elementCount(shape)),
                                    decodeIntegers(init).front());
    fold_detail::forEachPair(input.shape, reduced, [&](std::int64_t i, std::int64_t j) {
      sums[j] = extend(integer, Op::integer(integer, sums[j], values[i]));
    });
    return encodeIntegers(integer, std::move(shape), sums);
  }
  return Tensor::zeros(type, std::move(shape));
}

} // namespace octavo::reference
