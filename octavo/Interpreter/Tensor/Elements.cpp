#include "octavo/Interpreter/Tensor/Elements.h"

#include <algorithm>
#include <utility>

namespace octavo::interpreter {

namespace {

/// Decodes each element of `tensor`, which has format `format`, to a T.
template <typename T> std::vector<T> decodeAs(const Tensor& tensor, const ElementFormat& format) {
  return withCodec(format, [&](const auto& codec) {
    using Container = typename std::remove_cvref_t<decltype(codec)>::Container;
    const auto source = tensor.as<Container>();
    std::vector<T> values(source.size());
    for (std::size_t i = 0; i < source.size(); ++i)
      values[i] = static_cast<T>(codec.decode(source[i]));
    return values;
  });
}

template <typename T>
void encodeInto(Tensor& result, const ElementFormat& format, std::span<const T> values) {
  withCodec(format, [&](const auto& codec) {
    using Container = typename std::remove_cvref_t<decltype(codec)>::Container;
    const auto target = result.as<Container>();
    for (std::size_t i = 0; i < values.size(); ++i)
      target[i] = codec.encode(static_cast<double>(values[i]));
  });
}

template <typename T>
Tensor encoded(const ElementFormat& format, std::vector<std::int64_t> shape,
               std::span<const T> values) {
  Tensor result = Tensor::zeros(format, std::move(shape));
  encodeInto(result, format, values);
  return result;
}

} // namespace

std::vector<double> decodeElements(const Tensor& tensor) {
  return decodeAs<double>(tensor, tensor.type.format());
}

std::vector<float> decodeToF32(const Tensor& tensor) {
  return decodeAs<float>(tensor, tensor.type.format());
}

std::vector<std::complex<double>> decodeComplex(const Tensor& tensor) {
  const std::vector<double> parts = decodeAs<double>(tensor, tensor.type.part());
  std::vector<std::complex<double>> values(parts.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = {parts[2 * i], parts[2 * i + 1]};
  return values;
}

Tensor encodeElements(const ElementFormat& format, std::vector<std::int64_t> shape,
                      std::span<const double> values) {
  return encoded(format, std::move(shape), values);
}

Tensor encodeElements(const ElementFormat& format, std::vector<std::int64_t> shape,
                      std::span<const float> values) {
  return encoded(format, std::move(shape), values);
}

Tensor encodeComplex(const ElementFormat& part, std::vector<std::int64_t> shape,
                     std::span<const std::complex<double>> values) {
  Tensor result = Tensor::zeros(ComplexType{&part}, std::move(shape));
  // std::complex is laid out as an array of two (C++20, 26.4).
  encodeInto(result, part,
             std::span(reinterpret_cast<const double*>(values.data()), 2 * values.size()));
  return result;
}

std::vector<std::uint64_t> decodeIntegers(const Tensor& tensor) {
  return withCodec(tensor.type.integer(), [&](const auto& codec) {
    using Container = typename std::remove_cvref_t<decltype(codec)>::Container;
    const auto source = tensor.as<Container>();
    std::vector<std::uint64_t> values(source.size());
    for (std::size_t i = 0; i < source.size(); ++i)
      values[i] = codec.decode(source[i]);
    return values;
  });
}

Tensor encodeIntegers(IntegerType type, std::vector<std::int64_t> shape,
                      std::span<const std::uint64_t> values) {
  Tensor result = Tensor::zeros(type, std::move(shape));
  withCodec(type, [&](const auto& codec) {
    using Container = typename std::remove_cvref_t<decltype(codec)>::Container;
    const auto target = result.as<Container>();
    for (std::size_t i = 0; i < values.size(); ++i)
      target[i] = codec.encode(values[i]);
  });
  return result;
}

} // namespace octavo::interpreter
