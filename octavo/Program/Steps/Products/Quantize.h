// Steps that make scaled tensors, by quantization or from parts, and that take them apart.
#pragma once

#include "octavo/Kernels/QuantizeBothAxes.h"
#include "octavo/Numerics/QuantizeOptions.h"
#include "octavo/Numerics/Scaled.h"
#include "octavo/Program/Steps/Products/GatheredWeight.h"
#include "octavo/Program/Steps/Products/IndexedSlice.h"
#include "octavo/Program/Steps/Products/Product.h"
#include "octavo/Program/Steps/Products/ScaledParts.h"

#include <tl/expected.hpp>

namespace octavo::program {

/// The error of a step whose input contains a NaN or infinity that its quantization refuses.
Outcome refusal(const Step& step, float value);

/// Quantizes f32 values of a slot to a scaled tensor among the values.
class QuantizeStep : public Step {
public:
  explicit QuantizeStep(OperationTextPtr op) : Step(std::move(op)) {}
  /// Quantizes one slice of the slot, whose format may be any float format that f32 holds. If the
  /// slot's value keeps forms over runs, each slice is quantized once.
  struct Slices {
    Gathered values;
    const format::ElementFormat* format;
    IndexedSlice choice;
  };
  /// `randomBits` is set for stochastic rounding only. `shape` is that of the result, an index of
  /// Frame::values; `layout` says whether the input is its transpose.
  QuantizeStep(OperationTextPtr op, Slot from, std::optional<Slices> slices,
               std::optional<Slot> randomBits, kernels::Layout layout, ScaledShape shape,
               numerics::QuantizeOptions options, int result)
      : Step(std::move(op)), from(from), slices(std::move(slices)), randomBits(randomBits),
        isTransposed(layout == kernels::Layout::Transposed), shape(std::move(shape)),
        options(std::move(options)), result(result) {}
  Outcome run(Frame& frame) const override;
  Outcome bind(const Binding& binding) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::Quantize; }
  void fields(ProgramFields& fields) override;

private:
  tl::expected<numerics::ScaledTensor, numerics::NonFiniteInput>
  quantized(const float* values, const ScaledShape::OfItems& now,
            std::span<const std::uint32_t> bits, numerics::ScaledTensor&& old) const;
  tl::expected<numerics::ScaledTensor, numerics::NonFiniteInput>
  quantizedSlice(const std::byte* memory, std::int64_t slice, const ScaledShape::OfItems& now,
                 numerics::ScaledTensor&& old) const;
  using Kept = tl::expected<Value, numerics::NonFiniteInput>;
  /// All quantized slices, kept by the value `owner`.
  std::shared_ptr<const std::vector<Kept>> keptOf(const Value& owner) const;

  Slot from;
  std::optional<Slices> slices;
  std::optional<Slot> randomBits;
  bool isTransposed = false;
  ScaledShape shape;
  numerics::QuantizeOptions options;
  int result = 0;
};

/// Makes a scaled tensor among the values from parts in slots.
class FromPartsStep : public Step {
public:
  explicit FromPartsStep(OperationTextPtr op) : Step(std::move(op)) {}
  FromPartsStep(OperationTextPtr op, ScaledParts from, int result)
      : Step(std::move(op)), from(std::move(from)), result(result) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::FromParts; }
  void fields(ProgramFields& fields) override;

private:
  ScaledParts from = {};
  int result = 0;
};

/// Dequantizes a scaled tensor among the values to f32 in a slot.
class DequantizeStep : public Step {
public:
  explicit DequantizeStep(OperationTextPtr op) : Step(std::move(op)) {}
  /// `from` is an index of Frame::values.
  DequantizeStep(OperationTextPtr op, int from, ScaledShape shape, Slot result)
      : Step(std::move(op)), from(from), shape(std::move(shape)), result(result) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::Dequantize; }
  void fields(ProgramFields& fields) override;

private:
  int from = 0;
  ScaledShape shape;
  Slot result;
};

/// Copies the parts of a scaled tensor among the values to slots.
class UnpackStep : public Step {
public:
  explicit UnpackStep(OperationTextPtr op) : Step(std::move(op)) {}
  UnpackStep(OperationTextPtr op, int from, ScaledParts to)
      : Step(std::move(op)), from(from), to(std::move(to)) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::Unpack; }
  void fields(ProgramFields& fields) override;

private:
  int from = 0;
  ScaledParts to = {};
};

} // namespace octavo::program
