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

QuantizeStep::Quantized QuantizeStep::quantized(const float* values,
                                                std::span<const std::uint32_t> bits) const {
  return kernels::quantizedTensor(values, shape, scaledType, options, bits,
                                  isTransposed ? kernels::Layout::Transposed
                                               : kernels::Layout::RowMajor)
      .map([](numerics::ScaledTensor tensor) { return Value(std::move(tensor)); });
}

Outcome QuantizeStep::run(Frame& frame) const {
  const auto count = static_cast<std::size_t>(numerics::elementCount(shape));
  const auto bits = randomBits ? std::span(frame.at<const std::uint32_t>(*randomBits), count)
                               : std::span<const std::uint32_t>();
  const float* const values = frame.at<const float>(from);
  const auto ofSlice = [&](std::int64_t slice) {
    return quantized(values + slices->offset + slice * slices->stride, {});
  };
  const Value* const owner = slices ? frame.owners[static_cast<std::size_t>(from.number)] : nullptr;
  Quantized one = [&] {
    if (!slices)
      return quantized(values, bits);
    const std::int64_t slice = slices->choice.of(frame);
    if (owner == nullptr)
      return ofSlice(slice);
    const auto all = kept.of(std::span(&owner, 1), [&] {
      std::vector<Quantized> made;
      for (std::int64_t i = 0; i < slices->choice.count; ++i)
        made.push_back(ofSlice(i));
      return made;
    });
    return (*all)[static_cast<std::size_t>(slice)];
  }();
  if (!one)
    return refusal(*this, one.error().value);
  frame.values[static_cast<std::size_t>(result)] = std::move(*one);
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
