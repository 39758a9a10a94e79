// Scaled tensors as a run makes them: quantized, or from their parts.
#pragma once

#include "octavo/Numerics/QuantizeOptions.h"
#include "octavo/Numerics/Scaled.h"
#include "octavo/Steps/ScaledParts.h"

namespace octavo::steps {

/// The error of a step whose input has a NaN or infinity that its quantization refuses.
Outcome refusal(const Step& step, float value);

/// f32 that lie in a slot as a scaled tensor among the values.
class QuantizeStep : public Step {
public:
  /// `randomBits` is there for stochastic rounding; `result` is of Frame::values.
  QuantizeStep(OperationTextPtr op, Slot from, std::optional<Slot> randomBits,
               std::vector<std::int64_t> shape, numerics::ScaledType type,
               numerics::QuantizeOptions options, int result)
      : Step(std::move(op)), from(from), randomBits(randomBits), shape(std::move(shape)),
        type(std::move(type)), options(std::move(options)), result(result) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;

private:
  Slot from;
  std::optional<Slot> randomBits;
  std::vector<std::int64_t> shape;
  numerics::ScaledType type;
  numerics::QuantizeOptions options;
  int result;
};

/// A scaled tensor among the values from what lies in slots.
class FromPartsStep : public Step {
public:
  FromPartsStep(OperationTextPtr op, ScaledParts from, int result)
      : Step(std::move(op)), from(std::move(from)), result(result) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;

private:
  ScaledParts from;
  int result;
};

} // namespace octavo::steps
