#include "octavo/Reference/Conversions.h"

#include "octavo/Reference/Map.h"

#include <cmath>

namespace octavo::reference {

namespace {

std::uint64_t toInteger(IntegerType type, double value) {
  if (type.width == 1)
    return value != 0.0;
  if (value != value)
    return 0;
  // Bounds as doubles are exact powers of two: 2^63 itself is already out of range.
  const int valueBits = type.isUnsigned ? type.width : type.width - 1;
  const double bound = std::ldexp(1.0, valueBits);
  const std::uint64_t highest =
      type.width == 64 && type.isUnsigned ? ~std::uint64_t{0} : (std::uint64_t{1} << valueBits) - 1;
  const double truncated = std::trunc(value);
  if (truncated >= bound)
    return highest;
  if (type.isUnsigned)
    return truncated <= 0.0 ? 0 : static_cast<std::uint64_t>(truncated);
  if (truncated <= -bound)
    return ~highest;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(truncated));
}

Tensor floatToInteger(const Tensor& tensor, IntegerType type) {
  Tensor result = Tensor::zeros(type, tensor.shape);
  const std::vector<double> values = decodeElements(tensor);
  for (std::size_t i = 0; i < values.size(); ++i)
    result.setCode(static_cast<std::int64_t>(i), truncate(type, toInteger(type, values[i])));
  return result;
}

} // namespace

Tensor convertElements(const Tensor& tensor, const ElementType& type,
                       const numerics::Conversion& conversion,
                       std::span<const std::uint32_t> randomBits) {
  if (tensor.type == type)
    return tensor;
  if (tensor.type.isFloat() && type.isInteger())
    return floatToInteger(tensor, type.integer());
  if (tensor.type.isFloat()) {
    const std::vector<double> values = decodeElements(tensor);
    Tensor result = Tensor::zeros(type, tensor.shape);
    forEachIndex(tensor.size(), [&](std::int64_t i) {
      numerics::Conversion each = conversion;
      if (!randomBits.empty())
        each.randomBits = randomBits[i];
      result.setCode(i, numerics::convert(type.format(), values[i], each));
    });
    return result;
  }
  const IntegerType source = tensor.type.integer();
  Tensor result = Tensor::zeros(type, tensor.shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const std::uint64_t value = extend(source, tensor.code(i));
    if (type.isFloat()) {
      const bool negative = isNegative(source, value);
      result.setCode(i, numerics::convertInteger(type.format(), negative, negative ? -value : value,
                                                 conversion));
    } else {
      result.setCode(i, type.isBoolean() ? value != 0 : truncate(type.integer(), value));
    }
  }
  return result;
}

Tensor reducePrecision(const Tensor& tensor, int exponentBits, int trailingSignificandBits) {
  return mapReal(
      [=](double x) {
        return numerics::reducePrecision(tensor.type.format(), x, exponentBits,
                                         trailingSignificandBits);
      },
      tensor);
}

Tensor bitcastElements(const Tensor& tensor, const ElementType& type,
                       std::vector<std::int64_t> shape) {
  Tensor result = Tensor::zeros(type, std::move(shape));
  const int from = tensor.type.width();
  const int to = type.width();
  const auto lowBits = [](std::uint64_t value, int width) {
    return width == 64 ? value : value & ((std::uint64_t{1} << width) - 1);
  };
  if (to <= from) {
    const int parts = from / to;
    for (std::int64_t i = 0; i < result.size(); ++i)
      result.setCode(i, lowBits(tensor.code(i / parts) >> (i % parts * to), to));
  } else {
    const int parts = to / from;
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      const std::uint64_t part = lowBits(tensor.code(i), from) << (i % parts * from);
      result.setCode(i / parts, result.code(i / parts) | part);
    }
  }
  return result;
}

} // namespace octavo::reference
