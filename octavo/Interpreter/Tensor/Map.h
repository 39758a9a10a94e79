// Applies a scalar operation to every element of tensors of one shape and type.
//
// An operation is a struct with static functions: `real`, on doubles; `integer`, on 64-bit extended
// integers and their type; `complex`, on complex numbers of doubles. It has only those on which it
// is defined. Floats of every format are decoded, computed in f64 and rounded once (rule I1); so is
// each part of a complex number.
#pragma once

#include "octavo/Base/Loops.h"
#include "octavo/Interpreter/Tensor/Elements.h"

#include <tl/expected.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace octavo::interpreter {

/// Whether `Op::real` takes one to three arguments of type `Number` and returns one, or
/// `Op::complex` one or two.
template <typename Op, typename Number>
concept RealOperationOn = requires(Number x) {
  { Op::real(x) } -> std::same_as<Number>;
} || requires(Number x) {
  { Op::real(x, x) } -> std::same_as<Number>;
} || requires(Number x) {
  { Op::real(x, x, x) } -> std::same_as<Number>;
};
template <typename Op, typename Number>
concept ComplexOperationOn = requires(std::complex<Number> x) {
  { Op::complex(x) } -> std::same_as<std::complex<Number>>;
} || requires(std::complex<Number> x) {
  { Op::complex(x, x) } -> std::same_as<std::complex<Number>>;
};

template <typename Op>
concept RealOperation = RealOperationOn<Op, double>;
template <typename Op>
concept ComplexOperation = ComplexOperationOn<Op, double>;
template <typename Op>
concept IntegerOperation = requires { &Op::integer; };

/// Whether `Op` is defined on elements of `type`.
template <typename Op> bool isDefinedOn(const ElementType& type) {
  return type.isFloat()     ? RealOperation<Op>
         : type.isInteger() ? IntegerOperation<Op>
         : type.isComplex() ? ComplexOperation<Op>
                            : false;
}

/// The error of an operation that is not defined on an element type.
struct Undefined {
  ElementType type;
  std::string message() const { return "is not defined on elements of " + type.name(); }
};

/// A result, or the error that the operation is not defined on the element type.
template <typename T> using Defined = tl::expected<T, Undefined>;

/// Calls f(i) for 0 <= i < n, in parallel. f(i) must not read what another call writes.
template <typename F> void forEachIndex(std::int64_t n, F f) {
  constexpr std::int64_t kGrain = 1 << 14;
  base::forRanges(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i != end; ++i)
      f(i);
  });
}

/// result[i] = encode(f(decode(inputs[i])...)) for every container of tensors of one shape; the
/// result has the type of the first.
template <typename Codec, typename F, std::same_as<Tensor>... Inputs>
Tensor mapContainers(const Codec& codec, F f, const Tensor& first, const Inputs&... rest) {
  using Container = typename Codec::Container;
  Tensor result = Tensor::zeros(first.type, first.shape);
  Container* target = result.as<Container>().data();
  [&](const auto*... source) {
    forEachIndex(static_cast<std::int64_t>(result.bytes.size() / sizeof(Container)),
                 [&](std::int64_t i) { target[i] = codec.encode(f(codec.decode(source[i])...)); });
  }(first.template as<Container>().data(), rest.template as<Container>().data()...);
  return result;
}

/// Applies `real` to the values of float tensors of one shape and type, and rounds to that type.
template <typename F, std::same_as<Tensor>... Inputs>
Tensor mapReal(F real, const Tensor& first, const Inputs&... rest) {
  return withCodec(first.type.format(),
                   [&](const auto& codec) { return mapContainers(codec, real, first, rest...); });
}

/// Codec of f64 that computes in extended precision.
struct ExtendedCodec {
  using Container = double;
  static long double decode(double code) { return code; }
  static double encode(long double value) {
    return MachineCodec<double>::encode(static_cast<double>(value));
  }
};

/// Codec of complex numbers; `Part` is the codec of the parts.
template <typename Part> struct ComplexCodec {
  using Container = std::complex<typename Part::Container>;
  using Number = std::complex<decltype(Part::decode({}))>;
  static Number decode(Container code) {
    return {Part::decode(code.real()), Part::decode(code.imag())};
  }
  static Container encode(Number value) {
    return {Part::encode(value.real()), Part::encode(value.imag())};
  }
};

/// Calls `f` with the codec of complex numbers whose parts have format `part`, f32 or f64.
template <typename F> decltype(auto) withComplexCodec(const ElementFormat& part, F f) {
  if (part == format::element("f32"))
    return f(ComplexCodec<MachineCodec<float>>());
  return f(ComplexCodec<MachineCodec<double>>());
}

/// Applies `Op` to each element of tensors of one shape and type. An error if
/// !isDefinedOn<Op>(type).
template <typename Op, std::same_as<Tensor>... Inputs>
Defined<Tensor> map(const Tensor& first, const Inputs&... rest) {
  if constexpr (RealOperationOn<Op, long double>)
    if (first.type == kF64)
      return mapContainers(
          ExtendedCodec{}, [](auto... x) { return Op::real(x...); }, first, rest...);
  if constexpr (ComplexOperationOn<Op, long double>)
    if (first.type.isComplex() && first.type.part() == kF64.format())
      return mapContainers(
          ComplexCodec<ExtendedCodec>{}, [](auto... x) { return Op::complex(x...); }, first,
          rest...);
  if constexpr (RealOperation<Op>)
    if (first.type.isFloat())
      return mapReal([](auto... x) { return Op::real(x...); }, first, rest...);
  if constexpr (IntegerOperation<Op>)
    if (first.type.isInteger())
      return withCodec(first.type.integer(), [&](const auto& codec) {
        return mapContainers(
            codec, [&](auto... x) { return Op::integer(codec.type, x...); }, first, rest...);
      });
  if constexpr (ComplexOperation<Op>)
    if (first.type.isComplex())
      return withComplexCodec(first.type.part(), [&](const auto& codec) {
        return mapContainers(codec, [](auto... x) { return Op::complex(x...); }, first, rest...);
      });
  return tl::unexpected(Undefined{first.type});
}

} // namespace octavo::interpreter
