// Where the values of a compiled program are.
#pragma once

#include "octavo/Steps/Step.h"

#include <optional>

namespace octavo::steps {

/// In a slot, as a tensor of this type and shape, or among the values.
struct Place {
  int number = -1;
  struct InMemory {
    numerics::ElementType type;
    std::vector<std::int64_t> shape;
  };
  std::optional<InMemory> memory = std::nullopt;
};

/// Bytes of a place in memory.
std::size_t bytesOf(const Place& place);

/// The value at a place, copied where it lies in memory.
Value read(const Frame& frame, const Place& place);
void write(Frame& frame, const Place& place, Value value);
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
