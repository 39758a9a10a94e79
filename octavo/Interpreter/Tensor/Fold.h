// Reductions whose body is one scalar operation (rule I10).
#pragma once

#include "octavo/Interpreter/Tensor/Map.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include <cstdint>
#include <span>
#include <vector>

namespace octavo::interpreter {

/// Calls f(i, j) for each element i of the input, in row-major order; j is the element of the
/// result into which i is reduced.
template <typename F>
void forEachPair(std::span<const std::int64_t> shape, std::span<const std::int64_t> reduced, F f) {
  if (numerics::elementCount(shape) == 0)
    return;
  if (shape.empty())
    return f(0, 0);
  const std::vector<std::int64_t> strides = keptStrides(shape, reduced);
  const std::span<const std::int64_t> outer = shape.first(shape.size() - 1);
  const std::int64_t step = strides.back();
  std::vector<std::int64_t> index(outer.size(), 0);
  std::int64_t i = 0;
  do {
    std::int64_t j = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      j += index[axis] * strides[axis];
    for (std::int64_t last = 0; last < shape.back(); ++last, j += step)
      f(i++, j);
  } while (nextIndex(index, outer));
}

namespace fold_detail {

/// Running values, one for each element of the result, that start from `init`. Each step is
/// `step(sum, element)`.
template <typename Sum, typename Codec, typename F>
std::vector<Sum> foldContainers(const Codec& codec, const Tensor& input, Sum init,
                                std::span<const std::int64_t> reduced, F step) {
  const auto source = input.as<typename Codec::Container>();
  std::vector<Sum> sums(
      static_cast<std::size_t>(numerics::elementCount(keptShape(input.shape, reduced))), init);
  forEachPair(input.shape, reduced, [&](std::int64_t i, std::int64_t j) {
    sums[j] = static_cast<Sum>(step(sums[j], codec.decode(source[i])));
  });
  return sums;
}

template <typename Op, typename Real>
Tensor foldReal(const Tensor& input, Real init, std::span<const std::int64_t> reduced,
                const ElementFormat& format) {
  const std::vector<Real> sums = withCodec(input.type.format(), [&](const auto& codec) {
    return foldContainers(codec, input, init, reduced, [](Real sum, double x) {
      // An f64 element is rounded to f32 before it is added to an f32 sum.
      return Op::real(static_cast<double>(sum), static_cast<double>(static_cast<Real>(x)));
    });
  });
  return encodeElements(format, keptShape(input.shape, reduced), sums);
}

} // namespace fold_detail

/// Reduces the axes `reduced` of `input` by `Op`, from `init` (rank 0), in row-major order of the
/// input. An error if !isDefinedOn<Op>(type).
/// - Floats: in f64 if the result or the input is f64, else in f32, each step rounded; one rounding
///   to `type` at the end.
/// - Integers wrap in `type` at each step.
/// - Complex numbers: each part is rounded to the format of `type` at each step.
template <typename Op>
Defined<Tensor> fold(const Tensor& input, const Tensor& init, std::span<const std::int64_t> reduced,
                     const ElementType& type) {
  if constexpr (RealOperation<Op>)
    if (type.isFloat()) {
      if (type == kF64 || input.type == kF64)
        return fold_detail::foldReal<Op, double>(input, decodeElements(init).front(), reduced,
                                                 type.format());
      return fold_detail::foldReal<Op, float>(input, decodeToF32(init).front(), reduced,
                                              type.format());
    }
  if constexpr (IntegerOperation<Op>)
    if (type.isInteger()) {
      const IntegerType integer = type.integer();
      const std::vector<std::uint64_t> sums =
          withCodec(input.type.integer(), [&](const auto& codec) {
            return fold_detail::foldContainers(codec, input, decodeIntegers(init).front(), reduced,
                                               [&](std::uint64_t sum, std::uint64_t x) {
                                                 return extend(integer,
                                                               Op::integer(integer, sum, x));
                                               });
          });
      return encodeIntegers(integer, keptShape(input.shape, reduced), sums);
    }
  if constexpr (ComplexOperation<Op>)
    if (type.isComplex())
      return withComplexCodec(type.part(), [&](const auto& target) {
        const auto sums = withComplexCodec(input.type.part(), [&](const auto& codec) {
          return fold_detail::foldContainers(codec, input, decodeComplex(init).front(), reduced,
                                             [&](std::complex<double> sum, std::complex<double> x) {
                                               return target.decode(
                                                   target.encode(Op::complex(sum, x)));
                                             });
        });
        return encodeComplex(type.part(), keptShape(input.shape, reduced), sums);
      });
  return tl::unexpected(Undefined{type});
}

} // namespace octavo::interpreter
