// stablehlo.rng_bit_generator (rule I23): each counter value gives one block of numbers, so that
// any thread can compute any block.
#pragma once

#include "octavo/Program/Steps/Step.h"

#include <vector>

namespace octavo::program {

/// Fills a tensor with random bits, and updates the generator's state.
class RandomBitsStep : public Step {
public:
  explicit RandomBitsStep(OperationTextPtr op) : Step(std::move(op)) {}
  enum class Generator : std::uint8_t { Threefry, Philox };
  /// The generator's state, `words` numbers of ui64: key and counter, and with three words the high
  /// half of the counter.
  struct State {
    Slot given, next;
    std::int64_t words;
  };
  struct Output {
    Slot slot;
    std::vector<std::int64_t> shape;
    int width;          ///< bits of an element
    std::int64_t bytes; ///< bytes of an element
  };
  RandomBitsStep(OperationTextPtr op, Generator generator, State state, Output output);
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::RandomBits; }
  void fields(ProgramFields& fields) override;

private:
  /// How blocks are laid out in the output. The numbers of one block are `inner` apart. A group is
  /// the `extent` elements along that axis; it takes as many blocks as cover it.
  struct Layout {
    std::int64_t outer, extent, inner;
  };

  template <typename Element> void fill(const std::uint64_t* state, Element* elements) const;

  /// Computes perBlock, layout and blocks from the other fields.
  void layOut();

  Generator generator = Generator::Threefry;
  State state = {};
  Output output = {};
  std::int64_t perBlock = 1; ///< elements of one block
  Layout layout = {1, 0, 1};
  std::int64_t blocks = 0;
};

} // namespace octavo::program
