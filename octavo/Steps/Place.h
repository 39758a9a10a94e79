// Where the values of a compiled program are.
#pragma once

#include "octavo/Steps/Step.h"

#include <algorithm>
#include <optional>

namespace octavo::steps {

/// In a slot, as a tensor of this type and shape, or among the values.
struct Place {
  int number = -1;
  struct InMemory {
    numerics::ElementType type;
    std::vector<std::int64_t> shape;
    /// The axis along which the items lie, of one of which the shape is; -1: it is the same for any
    /// number of items. Only arguments, results, and what is copied or carried by a loop have one.
    int openAxis = -1;

    bool operator==(const InMemory&) const = default;
    std::vector<std::int64_t> shapeOf(std::int64_t items) const {
      std::vector<std::int64_t> all = shape;
      if (openAxis >= 0)
        all[static_cast<std::size_t>(openAxis)] *= items;
      return all;
    }
    bool fits(const std::vector<std::int64_t>& given, std::int64_t items) const {
      const auto isExtent = [&](std::int64_t own, const std::int64_t& extent) {
        const bool isOpen = &extent - given.data() == openAxis;
        return extent == (isOpen ? own * items : own);
      };
      return std::ranges::equal(shape, given, isExtent);
    }
  };
  std::optional<InMemory> memory = std::nullopt;
};

/// Bytes of a place in memory.
std::size_t bytesOf(const Place& place);
/// The same in a run, of all of its items.
std::size_t bytesOf(const Place& place, const Frame& frame);

/// The value at a place, copied where it lies in memory. What a step has made is shared from then
/// on, and the step makes the next one anew.
Value read(Frame& frame, const Place& place);
void write(Frame& frame, const Place& place, Value value);
/// Of a place among the values, a scaled tensor that a step makes: in the memory of an earlier run.
numerics::ScaledTensor& makeScaled(Frame& frame, int number);
/// One that a step has made, or that was given.
const numerics::ScaledTensor& scaledAt(const Frame& frame, int number);
/// Both are of one type.
void copy(Frame& frame, const Place& from, const Place& to);

class CopyStep : public Step {
public:
  explicit CopyStep(OperationTextPtr op) : Step(std::move(op)) {}
  CopyStep(OperationTextPtr op, Place from, Place to)
      : Step(std::move(op)), from(std::move(from)), to(std::move(to)) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::Copy; }
  void fields(ProgramFields& fields) override;

private:
  Place from, to;
};

} // namespace octavo::steps
