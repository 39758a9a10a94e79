#include "octavo/Program/Steps/Products/Quantize.h"

#include "octavo/Kernels/BlockLayout.h"
#include "octavo/Kernels/Convert.h"
#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/QuantizedTensor.h"
#include "octavo/Kernels/ThreadMemory.h"
#include "octavo/Numerics/Tensor.h"
#include "octavo/Program/Steps/Place.h"
#include "octavo/Program/Steps/SharedForms.h"
#include "octavo/Program/Values/RefusedInput.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <tuple>

namespace octavo::program {

Outcome refusal(const Step& step, float value) {
  return tl::make_unexpected(program::refusedInput(*step.operation(), value));
}

tl::expected<numerics::ScaledTensor, numerics::NonFiniteInput>
QuantizeStep::quantized(const float* values, const ScaledShape::OfItems& now,
                        std::span<const std::uint32_t> bits, numerics::ScaledTensor&& old) const {
  return kernels::quantizedTensor(
      values, now.shape, now.type, options, bits,
      isTransposed ? kernels::Layout::Transposed : kernels::Layout::RowMajor, {}, std::move(old));
}

tl::expected<numerics::ScaledTensor, numerics::NonFiniteInput>
QuantizeStep::quantizedSlice(const std::byte* memory, std::int64_t slice,
                             const ScaledShape::OfItems& now, numerics::ScaledTensor&& old) const {
  const int bytes = slices->format->bytes();
  std::vector<std::byte> gathered;
  if (const auto begin = slices->values.runOf(slice, slices->choice.count())) {
    memory += *begin * bytes;
  } else {
    gathered = slices->values.slice(slice, slices->choice.count()).from(memory, bytes);
    memory = gathered.data();
  }
  if (slices->format->name == "f32")
    return quantized(reinterpret_cast<const float*>(memory), now, {}, std::move(old));
  kernels::ThreadVector<float> wide(static_cast<std::size_t>(numerics::elementCount(now.shape)));
  kernels::widen(*slices->format, memory, kernels::WideType::F32, wide.data(), wide.size());
  return quantized(wide.data(), now, {}, std::move(old));
}

std::shared_ptr<const std::vector<QuantizeStep::Kept>>
QuantizeStep::keptOf(const Value& owner) const {
  using Description = std::tuple<Gathered, const format::ElementFormat*, std::int64_t, bool,
                                 ScaledShape, numerics::QuantizeOptions>;
  const auto description =
      std::make_tuple(std::cref(slices->values), slices->format, slices->choice.count(),
                      isTransposed, std::cref(shape), std::cref(options));
  return describedForm<Description, std::vector<Kept>>(owner, description, [&] {
    std::vector<Kept> made;
    const ScaledShape::OfItems now = shape.of(1);
    for (std::int64_t slice = 0; slice < slices->choice.count(); ++slice)
      made.push_back(
          quantizedSlice(owner.tensor().bytes.data(), slice, now, {})
              .map([](numerics::ScaledTensor tensor) { return Value(std::move(tensor)); }));
    return made;
  });
}

/// Ignores refused slices: a run may choose another slice.
Outcome QuantizeStep::bind(const Binding& binding) const {
  if (slices && binding.slot == from.number && binding.value.isTensor())
    keptOf(binding.value);
  return {};
}

Outcome QuantizeStep::run(Frame& frame) const {
  const std::int64_t slice = slices ? slices->choice.of(frame) : 0;
  const Value* const owner = slices ? frame.owners[static_cast<std::size_t>(from.number)] : nullptr;
  if (owner != nullptr) {
    const auto all = keptOf(*owner);
    const Kept& one = (*all)[static_cast<std::size_t>(slice)];
    if (!one)
      return refusal(*this, one.error().value);
    frame.values[static_cast<std::size_t>(result)] = *one;
    return {};
  }
  const kernels::ThreadKept<ScaledShape::OfItems> now;
  shape.close(frame.items, *now);
  const auto count = static_cast<std::size_t>(numerics::elementCount(now->shape));
  const auto bits = randomBits ? std::span(frame.at<const std::uint32_t>(*randomBits), count)
                               : std::span<const std::uint32_t>();
  numerics::ScaledTensor& target = makeScaled(frame, result);
  auto made = slices ? quantizedSlice(frame.at(from), slice, *now, std::move(target))
                     : quantized(frame.at<const float>(from), *now, bits, std::move(target));
  if (!made)
    return refusal(*this, made.error().value);
  target = std::move(*made);
  return {};
}

namespace {

/// Bytes of a scaled tensor: codes and scales.
double bytesOf(const ScaledShape::OfItems& now) {
  const auto count = static_cast<double>(numerics::elementCount(now.shape));
  const auto blocks = static_cast<double>(kernels::blocksOf(now.shape, now.type.block));
  return (count * now.type.element->width() + blocks * now.type.scale->width()) / 8;
}

/// Writes the scales consecutively, in containers of their format.
void writeScales(const numerics::ScaledTensor& tensor, std::byte* to) {
  const auto bytes = static_cast<std::size_t>(tensor.type.scale->bytes());
  for (const std::uint32_t& scale : tensor.scales)
    to = std::copy_n(reinterpret_cast<const std::byte*>(&scale), bytes, to);
}

} // namespace

StepFacts QuantizeStep::facts() const {
  const ScaledShape::OfItems one = shape.of(1);
  const auto count = static_cast<double>(numerics::elementCount(one.shape));
  StepFacts facts{.kind = StepFacts::Kind::Quantize, .bytes = count * sizeof(float) + bytesOf(one)};
  if (slices)
    facts.weight = {.slot = from.number,
                    .bytes = static_cast<double>(slices->choice.count()) * bytesOf(one)};
  return facts;
}

Outcome FromPartsStep::run(Frame& frame) const {
  copyTensor(frame.whole, from, frame.items, makeScaled(frame, result));
  return {};
}

StepFacts FromPartsStep::facts() const {
  return {.kind = StepFacts::Kind::Copy, .bytes = 2 * bytesOf(from.shape.of(1))};
}

Outcome DequantizeStep::run(Frame& frame) const {
  const numerics::ScaledTensor& tensor = scaledAt(frame, from);
  kernels::ThreadVector<std::byte> scales(tensor.scales.size() *
                                          static_cast<std::size_t>(shape.scale->bytes()));
  writeScales(tensor, scales.data());
  const kernels::ThreadKept<ScaledShape::OfItems> now;
  shape.close(frame.items, *now);
  kernels::dequantize(tensor.elements.data(), scales.data(), tensor.outer, now->shape, now->type,
                      frame.at<float>(result));
  return {};
}

StepFacts DequantizeStep::facts() const {
  const ScaledShape::OfItems one = shape.of(1);
  const auto count = static_cast<double>(numerics::elementCount(one.shape));
  return {.kind = StepFacts::Kind::Dequantize, .bytes = count * sizeof(float) + bytesOf(one)};
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
  return {.kind = StepFacts::Kind::Copy, .bytes = 2 * bytesOf(to.shape.of(1))};
}

} // namespace octavo::program
