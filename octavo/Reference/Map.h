// Applies a scalar operation to every element of tensors of one shape.
//
// An operation is a struct with static functions: `real`, on doubles, and `integer`, on extended
// 64-bit integers and their type. It has those that have a meaning. Floats of every format are
// decoded, computed in f64 and rounded once (rule I1); the loop on f32 is the same thing without
// the intermediate arrays.
#pragma once

#include "octavo/Reference/Elements.h"

#include "oneapi/tbb/blocked_range.h"
#include "oneapi/tbb/parallel_for.h"

#include <concepts>
#include <cstdint>
#include <span>

namespace octavo::reference {

template <typename Op>
concept RealOperation = requires {
  &Op::real;
};
template <typename Op>
concept IntegerOperation = requires {
  &Op::integer;
};

/// Whether `Op` is defined on elements of `type`.
template <typename Op> constexpr bool isDefinedOn(const ElementType& type) {
  return type.isFloat() ? RealOperation<Op> : IntegerOperation<Op>;
}

/// Calls f(i) for 0 <= i < n, in parallel; f(i) must depend on nothing that another call writes.
template <typename F> void forEachIndex(std::int64_t n, F f) {
  constexpr std::int64_t kGrain = 1 << 14;
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, n, kGrain), [&](const auto& range) {
    for (std::int64_t i = range.begin(); i != range.end(); ++i)
      f(i);
  });
}

/// The result of `real` on doubles, rounded to the format of `result` for each index.
/// `inputs` are float tensors of the shape and type of the result.
template <typename F, std::same_as<Tensor>... Inputs>
Tensor mapReal(F real, const Tensor& first, const Inputs&... rest) {
  const ElementType& type = first.type;
  const std::int64_t n = first.size();
  if (type == kF32 || type == kF64) {
    Tensor result = Tensor::zeros(type, first.shape);
    const auto loop = [&]<typename Real>(Real) {
      Real* target = result.as<Real>().data();
      [&](auto... source) {
        forEachIndex(n, [&](std::int64_t i) {
          target[i] = canonicalNan(static_cast<Real>(real(static_cast<double>(source[i])...)));
        });
      }(first.template as<Real>().data(), rest.template as<Real>().data()...);
    };
    if (type == kF32)
      loop(float{});
    else
      loop(double{});
    return result;
  }
  std::vector<double> values(static_cast<std::size_t>(n));
  [&](const auto&... source) {
    forEachIndex(n, [&](std::int64_t i) { values[i] = real(source[i]...); });
  }(decodeElements(first), decodeElements(rest)...);
  return encodeElements(type.format(), first.shape, values);
}

/// `Op` on each element of tensors of one shape and type. Requires isDefinedOn<Op>(type).
template <typename Op, std::same_as<Tensor>... Inputs>
Tensor map(const Tensor& first, const Inputs&... rest) {
  if (first.type.isFloat()) {
    if constexpr (RealOperation<Op>)
      return mapReal([](auto... x) { return Op::real(x...); }, first, rest...);
  } else {
    if constexpr (IntegerOperation<Op>) {
      const IntegerType type = first.type.integer();
      Tensor result = Tensor::zeros(type, first.shape);
      forEachIndex(first.size(), [&](std::int64_t i) {
        result.setCode(i, truncate(type, Op::integer(type, extend(type, first.code(i)),
                                                     extend(type, rest.code(i))...)));
      });
      return result;
    }
  }
  return Tensor::zeros(first.type, first.shape);
}

} // namespace octavo::reference
