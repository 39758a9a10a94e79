#include "octavo/Interpreter/Tensor/Conversions.h"

#include "octavo/Interpreter/Tensor/Map.h"
#include "octavo/Interpreter/Tensor/UniformQuantization.h"

#include <cmath>
#include <type_traits>

namespace octavo::interpreter {

namespace {

/// The elements of a tensor as the containers of its codec.
template <typename Codec> auto containersOf(const Codec&, const Tensor& tensor) {
  return tensor.as<typename Codec::Container>();
}
template <typename Codec> auto containersOf(const Codec&, Tensor& tensor) {
  return tensor.as<typename Codec::Container>();
}

std::uint64_t toInteger(IntegerType type, double value) {
  if (type.width == 1)
    return value != 0.0;
  if (value != value)
    return 0;
  // As doubles, the bounds are exact powers of two: 2^63 itself is out of range.
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
  withCodec(tensor.type.format(), [&](const auto& from) {
    withCodec(type, [&](const auto& to) {
      const auto source = containersOf(from, tensor);
      const auto target = containersOf(to, result);
      for (std::size_t i = 0; i < source.size(); ++i)
        target[i] = to.encode(toInteger(type, from.decode(source[i])));
    });
  });
  return result;
}

Tensor floatToFloat(const Tensor& tensor, const ElementFormat& format,
                    const numerics::Conversion& conversion,
                    std::span<const std::uint32_t> randomBits) {
  Tensor result = Tensor::zeros(format, tensor.shape);
  if (conversion.rounding == numerics::Rounding::TiesToEven &&
      conversion.overflow == numerics::Overflow::Special &&
      conversion.nan == numerics::NanCode::NegativeZero) {
    withCodec(tensor.type.format(), [&](const auto& from) {
      withCodec(format, [&](const auto& to) {
        const auto source = containersOf(from, tensor);
        const auto target = containersOf(to, result);
        forEachIndex(tensor.size(), [&](std::int64_t i) {
          const double value = from.decode(source[i]);
          // NaN keeps its sign here (rule N3), unlike in codecs.
          if (value == value)
            target[i] = to.encode(value);
          else
            result.setCode(i, numerics::convert(format, value));
        });
      });
    });
    return result;
  }
  const std::vector<double> values = decodeElements(tensor);
  forEachIndex(tensor.size(), [&](std::int64_t i) {
    numerics::Conversion each = conversion;
    if (!randomBits.empty())
      each.randomBits = randomBits[i];
    result.setCode(i, numerics::convert(format, values[i], each));
  });
  return result;
}

Tensor fromInteger(const Tensor& tensor, const ElementType& type,
                   const numerics::Conversion& conversion) {
  const IntegerType source = tensor.type.integer();
  const std::vector<std::uint64_t> values = decodeIntegers(tensor);
  if (type.isInteger() && !type.isBoolean())
    return encodeIntegers(type.integer(), tensor.shape, values);
  Tensor result = Tensor::zeros(type, tensor.shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const std::uint64_t value = values[i];
    const bool negative = isNegative(source, value);
    result.setCode(i, type.isBoolean()
                          ? value != 0
                          : numerics::convertInteger(type.format(), negative,
                                                     negative ? -value : value, conversion));
  }
  return result;
}

/// The real parts of a complex tensor.
Tensor realParts(const Tensor& tensor) {
  Tensor result = Tensor::zeros(tensor.type.part(), tensor.shape);
  withContainer(result.type, [&]<typename Container>(Container) {
    const auto source = tensor.as<Container>();
    const auto target = result.as<Container>();
    for (std::size_t i = 0; i < target.size(); ++i)
      target[i] = source[2 * i];
  });
  return result;
}

/// A complex tensor as a tensor of its parts, and back: the bytes are the same.
Tensor asParts(Tensor tensor) {
  std::vector<std::int64_t> shape = tensor.shape;
  shape.push_back(2);
  return {tensor.type.part(), std::move(shape), std::move(tensor.bytes)};
}
Tensor asComplex(Tensor parts) {
  std::vector<std::int64_t> shape = parts.shape;
  shape.pop_back();
  return {ComplexType{&parts.type.format()}, std::move(shape), std::move(parts.bytes)};
}

} // namespace

Tensor complexOfParts(const Tensor& real, const Tensor& imaginary) {
  Tensor result = Tensor::zeros(ComplexType{&real.type.format()}, real.shape);
  withContainer(real.type, [&]<typename Container>(Container) {
    const auto re = real.as<Container>(), im = imaginary.as<Container>();
    const auto target = result.as<Container>();
    for (std::size_t i = 0; i < re.size(); ++i) {
      target[2 * i] = re[i];
      target[2 * i + 1] = im[i];
    }
  });
  return result;
}

Tensor convertElements(const Tensor& tensor, const ElementType& type,
                       const numerics::Conversion& conversion,
                       std::span<const std::uint32_t> randomBits) {
  if (tensor.type == type)
    return tensor;
  if (tensor.type.isComplex() && type.isComplex())
    return asComplex(convertElements(asParts(tensor), type.part(), conversion));
  if (tensor.type.isComplex())
    return convertElements(realParts(tensor), type, conversion, randomBits);
  if (type.isComplex())
    return complexOfParts(convertElements(tensor, type.part(), conversion, randomBits),
                          Tensor::zeros(type.part(), tensor.shape));
  if (tensor.type.isInteger())
    return fromInteger(tensor, type, conversion);
  if (type.isInteger())
    return floatToInteger(tensor, type.integer());
  return floatToFloat(tensor, type.format(), conversion, randomBits);
}

Tensor reducePrecision(const Tensor& tensor, int exponentBits, int trailingSignificandBits) {
  const ElementFormat& format = tensor.type.format();
  Tensor result = mapReal(
      [&](double x) {
        return numerics::reducePrecision(format, x, exponentBits, trailingSignificandBits);
      },
      tensor);
  // Rule N10: NaN is unchanged, so this works on codes, not on numbers.
  withContainer(result.type, [&]<typename Container>(Container) {
    if constexpr (std::is_integral_v<Container>) {
      const auto source = tensor.as<Container>();
      const auto target = result.as<Container>();
      for (std::size_t i = 0; i < target.size(); ++i)
        if (format.isNan(source[i]))
          target[i] = source[i];
    }
  });
  return result;
}

Tensor bitcastElements(const Tensor& tensor, const ElementType& type,
                       std::vector<std::int64_t> shape) {
  const int from = tensor.type.width();
  const int to = type.width();
  // Little-endian containers without unused bits are the bits themselves.
  if (from == 8 * tensor.type.bytes() && to == 8 * type.bytes())
    return {type, std::move(shape), tensor.bytes};
  Tensor result = Tensor::zeros(type, std::move(shape));
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

Tensor converted(Tensor tensor, const ElementType& type) {
  if (tensor.type == type)
    return tensor;
  if (tensor.type.isQuantized())
    tensor = dequantizeUniform(tensor);
  if (type.isQuantized())
    return quantizeUniform(tensor, type);
  return tensor.type == type ? std::move(tensor) : convertElements(tensor, type);
}

} // namespace octavo::interpreter
