// Where the values of a compiled program are.
#pragma once

#include "octavo/Program/Steps/Step.h"

#include <algorithm>
#include <optional>

namespace octavo::program {

/// In a slot, as a tensor of this type and shape, or among the values.
struct Place {
  int number = -1;
  struct InMemory {
    numerics::ElementType type;
    /// Of arguments, results, and what is copied or carried by a loop, extents may depend on the
    /// number of items.
    std::vector<BatchExtent> shape;

    bool operator==(const InMemory&) const = default;
    /// The first axis of which each item has as much; -1: there is none.
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

/// Bytes of a place in memory.
BatchExtent bytesOf(const Place& place);

/// The value at a place, copied where it lies in memory. What a step has made is shared from then
/// on, and the step makes the next one anew.
Value read(Frame& frame, const Place& place);
/// The error says that the value is not of the place's type and shape; nothing is written then.
Outcome write(Frame& frame, const Place& place, Value value);
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

} // namespace octavo::program
