// stablehlo.rng_bit_generator (I23): a block of numbers from each counter, any of them on any
// thread.
#pragma once

#include "octavo/Program/Steps/Step.h"

#include <vector>

namespace octavo::program {

class RandomBitsStep : public Step {
public:
  explicit RandomBitsStep(OperationTextPtr op) : Step(std::move(op)) {}
  enum class Generator : std::uint8_t { Threefry, Philox };
  /// The `words` numbers of ui64 of a state: key, counter, and with three the counter's high half.
  struct State {
    Slot given, next;
    std::int64_t words;
  };
  struct Output {
    Slot slot;
    std::vector<std::int64_t> shape;
    int width;          ///< of an element, in bits
    std::int64_t bytes; ///< of an element
  };
  RandomBitsStep(OperationTextPtr op, Generator generator, State state, Output output);
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::RandomBits; }
  void fields(ProgramFields& fields) override;

private:
  /// How blocks lie in the output: the numbers of a block are `inner` apart, a group of `extent`
  /// elements on that axis takes as many blocks as cover it.
  struct Layout {
    std::int64_t outer, extent, inner;
  };

  template <typename Element> void fill(const std::uint64_t* state, Element* elements) const;

  /// What follows from the rest.
  void layOut();

  Generator generator = Generator::Threefry;
  State state = {};
  Output output = {};
  std::int64_t perBlock = 1; ///< elements
  Layout layout = {1, 0, 1};
  std::int64_t blocks = 0;
};

} // namespace octavo::program
