// Steps that run other steps: loops and branches.
#pragma once

#include "octavo/Program/Steps/Place.h"

namespace octavo::program {

/// stablehlo.while. Each carried value has two slots, which are swapped after each iteration, so
/// that nothing is copied. A value that the body returns unchanged has one slot (argument and next
/// equal).
class WhileStep : public Step {
public:
  explicit WhileStep(OperationTextPtr op) : Step(std::move(op)) {}
  /// The places of one loop-carried value.
  struct Carried {
    Place given;    ///< the operand of stablehlo.while
    Place argument; ///< the block argument of condition and body
    Place next;     ///< the result of the body
  };
  WhileStep(OperationTextPtr op, std::vector<Carried> carried, Sequence condition, Slot predicate,
            Sequence body)
      : Step(std::move(op)), carried(std::move(carried)), condition(std::move(condition)),
        predicate(predicate), body(std::move(body)) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override { return {.kind = StepFacts::Kind::Loop}; }
  StepType type() const override { return StepType::While; }
  void fields(ProgramFields& fields) override;
  std::vector<const Sequence*> nested() const override { return {&condition, &body}; }

private:
  std::vector<Carried> carried;
  Sequence condition;
  Slot predicate;
  Sequence body;
};

/// stablehlo.if and stablehlo.case: runs one branch. An index out of range selects the last branch.
class BranchStep : public Step {
public:
  explicit BranchStep(OperationTextPtr op) : Step(std::move(op)) {}
  /// A branch's steps, and where its results lie.
  struct Branch {
    Sequence steps;
    std::vector<Place> results;
  };
  /// `index` is an i32, or with `isPredicate` an i1 where true selects the first branch.
  BranchStep(OperationTextPtr op, Slot index, bool isPredicate, std::vector<Branch> branches,
             std::vector<Place> results)
      : Step(std::move(op)), index(index), isPredicate(isPredicate), branches(std::move(branches)),
        results(std::move(results)) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override { return {.kind = StepFacts::Kind::Branch}; }
  StepType type() const override { return StepType::Branch; }
  void fields(ProgramFields& fields) override;
  std::vector<const Sequence*> nested() const override;

private:
  Slot index;
  bool isPredicate = false;
  std::vector<Branch> branches;
  std::vector<Place> results;
};

} // namespace octavo::program
