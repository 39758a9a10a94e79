#include "octavo/Steps/Quantize.h"

#include "octavo/Kernels/BlockLayout.h"
#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/QuantizedTensor.h"
#include "octavo/Kernels/ThreadMemory.h"
#include "octavo/Numerics/Tensor.h"
#include "octavo/Steps/Place.h"

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

tl::expected<numerics::ScaledTensor, numerics::NonFiniteInput>
QuantizeStep::quantized(const float* values, std::span<const std::uint32_t> bits,
                        numerics::ScaledTensor&& old) const {
  return kernels::quantizedTensor(
      values, shape, scaledType, options, bits,
      isTransposed ? kernels::Layout::Transposed : kernels::Layout::RowMajor, {}, std::move(old));
}

Outcome QuantizeStep::run(Frame& frame) const {
  const auto count = static_cast<std::size_t>(numerics::elementCount(shape));
  const auto bits = randomBits ? std::span(frame.at<const std::uint32_t>(*randomBits), count)
                               : std::span<const std::uint32_t>();
  const float* const values = frame.at<const float>(from);
  const auto of = [&](std::int64_t slice) {
    return slices ? values + slices->offset + slice * slices->stride : values;
  };
  const std::int64_t slice = slices ? slices->choice.of(frame) : 0;
  const Value* const owner = slices ? frame.owners[static_cast<std::size_t>(from.number)] : nullptr;
  if (owner != nullptr) {
    const auto all = kept.of(std::span(&owner, 1), [&] {
      std::vector<Kept> made;
      for (std::int64_t i = 0; i < slices->choice.count(); ++i)
        made.push_back(quantized(of(i), {}, {}).map([](numerics::ScaledTensor tensor) {
          return Value(std::move(tensor));
        }));
      return made;
    });
    const Kept& one = (*all)[static_cast<std::size_t>(slice)];
    if (!one)
      return refusal(*this, one.error().value);
    frame.values[static_cast<std::size_t>(result)] = *one;
    return {};
  }
  numerics::ScaledTensor& target = makeScaled(frame, result);
  auto made = quantized(of(slice), bits, std::move(target));
  if (!made)
    return refusal(*this, made.error().value);
  target = std::move(*made);
  return {};
}

namespace {

/// Bytes of a scaled tensor, codes and scales.
double bytesOf(const numerics::ScaledType& type, std::span<const std::int64_t> shape) {
  const auto count = static_cast<double>(numerics::elementCount(shape));
  const auto blocks = static_cast<double>(kernels::blocksOf(shape, type.block));
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
  copyTensor(frame.whole, from, makeScaled(frame, result));
  return {};
}

StepFacts FromPartsStep::facts() const {
  return {.kind = StepFacts::Kind::Copy, .bytes = 2 * bytesOf(from.type, from.shape)};
}

Outcome DequantizeStep::run(Frame& frame) const {
  const numerics::ScaledTensor& tensor = scaledAt(frame, from);
  kernels::ThreadVector<std::byte> scales(tensor.scales.size() *
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
  const numerics::ScaledTensor& tensor = scaledAt(frame, from);
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
