#include "octavo/Steps/Quantize.h"

#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/QuantizedTensor.h"
#include "octavo/Numerics/Tensor.h"

#include <algorithm>
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
  auto quantized = kernels::quantizedTensor(
      frame.at<const float>(from), shape, scaledType, options, bits,
      isTransposed ? kernels::Layout::Transposed : kernels::Layout::RowMajor);
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

/// Scales one after the other, as wide as their format is in memory.
void writeScales(const numerics::ScaledTensor& tensor, std::byte* to) {
  const auto bytes = static_cast<std::size_t>(tensor.type.scale->bytes());
  for (const std::uint32_t& scale : tensor.scales)
    to = std::copy_n(reinterpret_cast<const std::byte*>(&scale), bytes, to);
}

} // namespace

StepFacts QuantizeStep::facts() const {
  const auto count = static_cast<double>(numerics::elementCount(shape));
  return {.kind = StepFacts::Kind::Quantize,
          .bytes = count * sizeof(float) + bytesOf(scaledType, shape)};
}

Outcome FromPartsStep::run(Frame& frame) const {
  frame.values[static_cast<std::size_t>(result)] = Value(tensorOf(frame.whole, from));
  return {};
}

StepFacts FromPartsStep::facts() const {
  return {.kind = StepFacts::Kind::Copy, .bytes = 2 * bytesOf(from.type, from.shape)};
}

Outcome DequantizeStep::run(Frame& frame) const {
  const numerics::ScaledTensor& tensor = frame.values[static_cast<std::size_t>(from)].scaled();
  std::vector<std::byte> scales(tensor.scales.size() *
                                static_cast<std::size_t>(scaledType.scale->bytes()));
  writeScales(tensor, scales.data());
  kernels::dequantize(tensor.elements.data(), scales.data(), tensor.outer, shape, scaledType,
                      frame.at<float>(result));
  return {};
}

StepFacts DequantizeStep::facts() const {
  const auto count = static_cast<double>(numerics::elementCount(shape));
  return {.kind = StepFacts::Kind::Dequantize,
          .bytes = count * sizeof(float) + bytesOf(scaledType, shape)};
}

Outcome UnpackStep::run(Frame& frame) const {
  const numerics::ScaledTensor& tensor = frame.values[static_cast<std::size_t>(from)].scaled();
  std::ranges::copy(tensor.elements, frame.at<std::uint8_t>(to.slots.elements));
  writeScales(tensor, frame.at(to.slots.scales));
  if (to.slots.outer)
    *frame.at<float>(*to.slots.outer) = tensor.outer;
  return {};
}

StepFacts UnpackStep::facts() const {
  return {.kind = StepFacts::Kind::Copy, .bytes = 2 * bytesOf(to.type, to.shape)};
}

} // namespace octavo::steps
