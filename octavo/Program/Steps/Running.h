// Cumulative stablehlo.reduce_window, such as jax.lax.cumsum: each window spans its axis up to its
// position, or from it on. Each result combines the result before it and one more element.
#pragma once

#include "octavo/Program/Steps/Step.h"

namespace octavo::program {

/// Running sums, products, maxima or minima along one axis.
class RunningStep : public Step {
public:
  explicit RunningStep(OperationTextPtr op) : Step(std::move(op)) {}
  enum class Operation : std::uint8_t { Add, Multiply, Maximum, Minimum };
  /// Integers wrap around. bf16 sums are rounded to bf16 at each step (rule I10).
  enum class Element : std::uint8_t { I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, Bf16 };
  /// `outer` times an axis of `extent` numbers that are `inner` elements apart. `isReversed`: from
  /// the end of the axis.
  struct Layout {
    BatchExtent outer, extent, inner;
    bool isReversed;
  };
  RunningStep(OperationTextPtr op, Operation combining, Element element, Layout layout, Slot from,
              Slot to)
      : Step(std::move(op)), combining(combining), element(element), layout(layout), from(from),
        to(to) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::Running; }
  void fields(ProgramFields& fields) override;

private:
  static std::int64_t bytesOf(Element element);
  template <typename Number, typename Combine> bool accumulate(Frame& frame) const;

  Operation combining = Operation::Add;
  Element element = Element::I8;
  Layout layout = {};
  Slot from, to;
};

} // namespace octavo::program
