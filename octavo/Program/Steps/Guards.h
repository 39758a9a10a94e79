// Guarded runs, for tests: they find steps that write beyond their memory or read memory that no
// step has written. Generated code has no sanitizer.
#pragma once

#include "octavo/Program/Steps/Step.h"

namespace octavo::program {

/// Guard bytes behind each piece of memory.
inline constexpr std::size_t kGuardBytes = 64;
/// The byte that fills guards.
inline constexpr std::byte kGuard{0xA5};
/// The byte that fills memory before its first write and after its last read: NaN in floats, -1 in
/// integers.
inline constexpr std::byte kNobodys{0xFF};

/// The pieces of a program's memory, each followed by a guard.
class Guards {
public:
  struct Piece {
    Slot slot;
    std::size_t bytes;
    int first, last; ///< numbers of the first and the last step that use the piece
  };
  /// Sets the pieces. Called once, before any run.
  void add(std::vector<Piece> all) { pieces = std::move(all); }

  /// Opens the pieces that are in use from the beginning. The slots must have their memory.
  void begin(Frame& frame) const;
  /// Opens the pieces that are first used by this step: fills them and sets their guards.
  void beforeStep(Frame& frame, int number) const;
  /// Replaces beforeStep for a step that runs other steps. Its results may lie where a nested
  /// step's values, or its own operands, lay before; so they are guarded afterwards and never
  /// filled.
  void afterNested(Frame& frame, int number) const;
  /// The slot whose guard was overwritten, or -1. Fills and releases the pieces whose last step
  /// this is.
  int afterStep(Frame& frame, int number) const;

private:
  static void open(Frame& frame, const Piece& piece);
  static void guard(Frame& frame, const Piece& piece);

  std::vector<Piece> pieces;
};

/// Runs a step and fails if the step wrote to a guard.
class GuardedStep : public Step {
public:
  /// `number` is the step's number, as Piece::first and last count steps.
  GuardedStep(std::unique_ptr<Step> guarded, int number, std::shared_ptr<const Guards> guards)
      : Step(guarded->operation()), guarded(std::move(guarded)), number(number),
        guards(std::move(guards)) {}
  Outcome run(Frame& frame) const override;
  Outcome bind(const Binding& binding) const override { return guarded->bind(binding); }
  StepFacts facts() const override { return guarded->facts(); }
  StepType type() const override { return StepType::Interpreted; }
  void fields(ProgramFields& fields) override;
  std::vector<const Sequence*> nested() const override { return guarded->nested(); }

private:
  std::unique_ptr<Step> guarded;
  int number;
  std::shared_ptr<const Guards> guards;
};

} // namespace octavo::program
