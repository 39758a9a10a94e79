#include "octavo/Reference/Elements.h"

#include <array>

namespace octavo::reference {

using format::element;

namespace {

std::array<double, 256> decodeTable(const ElementFormat& format) {
  std::array<double, 256> table{};
  for (std::uint32_t code = 0; code < 256; ++code)
    table[code] = numerics::decode(format, code);
  return table;
}

template <typename Real> std::vector<Real> decodeAs(const Tensor& tensor) {
  const ElementFormat& format = tensor.type.format();
  const std::int64_t n = tensor.size();
  std::vector<Real> values(static_cast<std::size_t>(n));
  if (format == element("f32")) {
    const auto source = tensor.as<float>();
    for (std::int64_t i = 0; i < n; ++i)
      values[i] = source[i];
  } else if (format == element("f64")) {
    const auto source = tensor.as<double>();
    for (std::int64_t i = 0; i < n; ++i)
      values[i] = static_cast<Real>(source[i]);
  } else if (format.isNarrow()) {
    const std::array<double, 256> table = decodeTable(format);
    const auto source = tensor.as<std::uint8_t>();
    for (std::int64_t i = 0; i < n; ++i)
      values[i] = static_cast<Real>(table[source[i]]);
  } else {
    for (std::int64_t i = 0; i < n; ++i)
      values[i] = static_cast<Real>(numerics::decode(format, tensor.code(i)));
  }
  return values;
}

} // namespace

std::vector<double> decodeElements(const Tensor& tensor) { return decodeAs<double>(tensor); }
std::vector<float> decodeToF32(const Tensor& tensor) { return decodeAs<float>(tensor); }

Tensor encodeElements(const ElementFormat& format, std::vector<std::int64_t> shape,
                      std::span<const double> values) {
  Tensor result = Tensor::zeros(format, std::move(shape));
  const auto n = static_cast<std::int64_t>(values.size());
  if (format == element("f32")) {
    const auto target = result.as<float>();
    for (std::int64_t i = 0; i < n; ++i)
      target[i] = canonicalNan(static_cast<float>(values[i]));
  } else if (format == element("f64")) {
    const auto target = result.as<double>();
    for (std::int64_t i = 0; i < n; ++i)
      target[i] = canonicalNan(values[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i)
      result.setCode(i, numerics::convert(format, canonicalNan(values[i])));
  }
  return result;
}

std::vector<std::uint64_t> decodeIntegers(const Tensor& tensor) {
  std::vector<std::uint64_t> values(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = extend(tensor.type.integer(), tensor.code(static_cast<std::int64_t>(i)));
  return values;
}

Tensor encodeIntegers(IntegerType type, std::vector<std::int64_t> shape,
                      std::span<const std::uint64_t> values) {
  Tensor result = Tensor::zeros(type, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i)
    result.setCode(static_cast<std::int64_t>(i), truncate(type, values[i]));
  return result;
}

} // namespace octavo::reference
