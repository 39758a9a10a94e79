// A way to run that finds steps which write beyond the memory that they were given, or read what
// nobody has written to it: for tests, since generated code has no sanitizer.
#pragma once

#include "octavo/Program/Steps/Step.h"

namespace octavo::program {

/// Bytes behind each piece of memory that steps must leave as they are.
inline constexpr std::size_t kGuardBytes = 64;
inline constexpr std::byte kGuard{0xA5};
/// What memory holds before it is written to, and after it was read last: NaN, and -1.
inline constexpr std::byte kNobodys{0xFF};

/// Pieces of a program's memory, each with a guard behind it.
class Guards {
public:
  struct Piece {
    Slot slot;
    std::size_t bytes;
    int first, last; ///< steps between which it is in use
  };
  /// When the pieces are known, before any run.
  void add(std::vector<Piece> all) { pieces = std::move(all); }

  /// At the beginning of a run, whose slots have their memory.
  void begin(Frame& frame) const;
  void beforeStep(Frame& frame, int number) const;
  /// In place of that, for a step that has run others meanwhile: what it has written itself lies
  /// where something of theirs, or what it read at first, may have lain.
  void afterNested(Frame& frame, int number) const;
  /// The slot whose guard a step has written to, -1 for none.
  int afterStep(Frame& frame, int number) const;

private:
  static void open(Frame& frame, const Piece& piece);
  static void guard(Frame& frame, const Piece& piece);

  std::vector<Piece> pieces;
};

/// A step between guards.
class GuardedStep : public Step {
public:
  /// `number` is the step's, as pieces count them.
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
