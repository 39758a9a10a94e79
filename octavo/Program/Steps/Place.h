// Places: where the values of a compiled program are kept.
#pragma once

#include "octavo/Program/Steps/Step.h"

#include <algorithm>
#include <optional>

namespace octavo::program {

/// A value's place. With `memory`, `number` is a slot that holds a tensor of that type and shape;
/// else it is an index of Frame::values.
struct Place {
  int number = -1;
  struct InMemory {
    numerics::ElementType type;
    /// The extents of arguments, results, copied and loop-carried values may depend on the batch
    /// size.
    std::vector<BatchExtent> shape;

    bool operator==(const InMemory&) const = default;
    /// The first axis whose extent is linear in the batch size; -1 if there is none.
    int openAxis() const {
      const auto open = std::ranges::find_if(shape, [](const BatchExtent& extent) {
        return extent.factor != 0 && extent.square == 0;
      });
      return open == shape.end() ? -1 : static_cast<int>(open - shape.begin());
    }
    std::vector<std::int64_t> shapeOf(std::int64_t items) const {
      std::vector<std::int64_t> all;
      for (const BatchExtent& extent : shape)
        all.push_back(extent.of(items));
      return all;
    }
    bool fits(const std::vector<std::int64_t>& given, std::int64_t items) const {
      return std::ranges::equal(shape, given, {},
                                [items](const BatchExtent& extent) { return extent.of(items); });
    }
  };
  std::optional<InMemory> memory = std::nullopt;
};

/// The bytes of a place in memory; 0 if the product overflows.
BatchExtent bytesOf(const Place& place);

/// The value at a place, copied if it is in a slot. A scaled tensor that a step has made moves into
/// the shared value, and the step makes its next tensor in new memory.
Value read(Frame& frame, const Place& place);
/// Writes a value to a place. Fails, without writing, if a tensor does not have the place's type
/// and shape.
Outcome write(Frame& frame, const Place& place, Value value);
/// The scaled tensor that a step makes at Frame::values[number]. It still owns the memory of an
/// earlier run, for reuse.
numerics::ScaledTensor& makeScaled(Frame& frame, int number);
/// The scaled tensor at Frame::values[number], made by a step or given.
const numerics::ScaledTensor& scaledAt(const Frame& frame, int number);
/// Copies a value. Both places have the same type; slots with the same memory are not copied.
void copy(Frame& frame, const Place& from, const Place& to);

/// Copies a value from one place to another.
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

} // namespace octavo::program
