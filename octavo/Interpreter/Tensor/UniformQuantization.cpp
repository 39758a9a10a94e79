#include "octavo/Interpreter/Tensor/UniformQuantization.h"

#include <algorithm>
#include <cmath>

namespace octavo::interpreter {

namespace {

/// Rounds x to a format.
double rounded(const ElementFormat& format, double x) {
  return withCodec(format, [&](const auto& codec) { return codec.decode(codec.encode(x)); });
}

/// The scale and zero point of each element. A scale is a number of the expressed type.
class Parameters {
public:
  Parameters(const QuantizedType& type, const std::vector<std::int64_t>& shape) : type(type) {
    for (double scale : type.scales)
      scales.push_back(rounded(*type.expressed, scale));
    if (!type.axis)
      return;
    count = shape[static_cast<std::size_t>(*type.axis)];
    for (std::size_t i = static_cast<std::size_t>(*type.axis) + 1; i < shape.size(); ++i)
      inner *= shape[i];
  }
  double scale(std::size_t i) const { return scales[index(i)]; }
  std::int64_t zeroPoint(std::size_t i) const { return type.zeroPoints[index(i)]; }

private:
  std::size_t index(std::size_t i) const {
    return type.axis ? static_cast<std::size_t>(static_cast<std::int64_t>(i) / inner % count) : 0;
  }

  const QuantizedType& type;
  std::vector<double> scales;
  std::int64_t count = 1, inner = 1;
};

} // namespace

Tensor dequantizeUniform(const Tensor& tensor) {
  const QuantizedType& type = tensor.type.quantized();
  const Parameters parameters(type, tensor.shape);
  Tensor stored = tensor;
  stored.type = type.storage;
  const std::vector<std::uint64_t> codes = decodeIntegers(stored);
  std::vector<double> values(codes.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto difference =
        static_cast<double>(static_cast<std::int64_t>(codes[i]) - parameters.zeroPoint(i));
    values[i] = rounded(*type.expressed, difference) * parameters.scale(i);
  }
  return encodeElements(*type.expressed, tensor.shape, std::span<const double>(values));
}

Tensor quantizeUniform(const Tensor& tensor, const ElementType& type) {
  const QuantizedType& quantized = type.quantized();
  const Parameters parameters(quantized, tensor.shape);
  const std::vector<double> values = decodeElements(tensor);
  const auto storageMin = static_cast<double>(quantized.storageMin);
  const auto storageMax = static_cast<double>(quantized.storageMax);
  std::vector<std::uint64_t> codes(values.size());
  withCodec(*quantized.expressed, [&](const auto& codec) {
    const auto round = [&](double x) { return codec.decode(codec.encode(x)); };
    const double low = round(storageMin), high = round(storageMax);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto zeroPoint = static_cast<double>(parameters.zeroPoint(i));
      const double shifted = round(round(values[i] / parameters.scale(i)) + round(zeroPoint));
      const double nearest =
          shifted != shifted ? 0 : std::nearbyint(std::clamp(shifted, low, high));
      // An end of the range may have been rounded to a value outside the range.
      const double stored = std::clamp(nearest, storageMin, storageMax);
      codes[i] = static_cast<std::uint64_t>(static_cast<std::int64_t>(stored));
    }
  });
  Tensor result = encodeIntegers(quantized.storage, tensor.shape, codes);
  result.type = type;
  return result;
}

} // namespace octavo::interpreter
