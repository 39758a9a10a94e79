#include "octavo/Steps/Quantize.h"

#include "octavo/Kernels/QuantizedTensor.h"
#include "octavo/Numerics/Tensor.h"

#include <cstring>

namespace octavo::steps {

Outcome refusal(const Step& step, float value) {
  return failure(step, std::string("the input has ") +
                           (value != value ? "NaN"
                            : value > 0    ? "Inf"
                                           : "-Inf") +
                           "; non_finite = propagate makes its block NaN, non_finite = saturate "
                           "takes Inf for the largest value");
}

Outcome QuantizeStep::run(Frame& frame) const {
  const auto count = static_cast<std::size_t>(numerics::elementCount(shape));
  const auto bits = randomBits ? std::span(frame.at<const std::uint32_t>(*randomBits), count)
                               : std::span<const std::uint32_t>();
  auto quantized =
      kernels::quantizedTensor(frame.at<const float>(from), shape, type, options, bits);
  if (!quantized)
    return refusal(*this, quantized.error().value);
  frame.values[static_cast<std::size_t>(result)] = Value(std::move(*quantized));
  return {};
}

namespace {

/// Bytes of a scaled tensor, codes and scales.
double bytesOf(const numerics::ScaledType& type, std::span<const std::int64_t> shape) {
  const auto count = static_cast<double>(numerics::elementCount(shape));
  const auto blocks =
      static_cast<double>(numerics::elementCount(format::scaleShape(shape, type.block)));
  return (count * type.element->width() + blocks * type.scale->width()) / 8;
}

} // namespace

StepFacts QuantizeStep::facts() const {
  const auto count = static_cast<double>(numerics::elementCount(shape));
  return {.kind = StepFacts::Kind::Quantize, .bytes = count * sizeof(float) + bytesOf(type, shape)};
}

Outcome FromPartsStep::run(Frame& frame) const {
  numerics::ScaledTensor tensor{shape, type, {}, {}};
  const auto* codes = frame.at<const std::uint8_t>(elements);
  tensor.elements.assign(codes, codes + numerics::elementCount(shape));
  tensor.scales.resize(
      static_cast<std::size_t>(numerics::elementCount(format::scaleShape(shape, type.block))));
  const auto width = static_cast<std::size_t>(type.scale->bytes());
  for (std::size_t i = 0; i < tensor.scales.size(); ++i)
    std::memcpy(&tensor.scales[i], frame.at(scales) + i * width, width);
  if (outer)
    tensor.outer = *frame.at<const float>(*outer);
  frame.values[static_cast<std::size_t>(result)] = Value(std::move(tensor));
  return {};
}

StepFacts FromPartsStep::facts() const {
  return {.kind = StepFacts::Kind::Copy, .bytes = 2 * bytesOf(type, shape)};
}

} // namespace octavo::steps
