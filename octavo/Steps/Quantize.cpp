#include "octavo/Steps/Quantize.h"

#include "octavo/Kernels/QuantizedTensor.h"
#include "octavo/Numerics/Tensor.h"

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
      kernels::quantizedTensor(frame.at<const float>(from), shape, scaledType, options, bits);
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

} // namespace octavo::steps
