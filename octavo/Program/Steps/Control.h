// Steps that run other steps: loops and branches.
#pragma once

#include "octavo/Program/Steps/Place.h"

namespace octavo::program {

/// stablehlo.while. What the loop carries has two slots that change places after each turn, so that
/// nothing is copied; what the body hands on as it is stays where it is.
class WhileStep : public Step {
public:
  explicit WhileStep(OperationTextPtr op) : Step(std::move(op)) {}
  struct Carried {
    Place given;    ///< the operand
    Place argument; ///< of condition and body
    Place next;     ///< what the body gives
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

/// stablehlo.if and case: one branch is run, the last one where the index is outside.
class BranchStep : public Step {
public:
  explicit BranchStep(OperationTextPtr op) : Step(std::move(op)) {}
  struct Branch {
    Sequence steps;
    std::vector<Place> results;
  };
  /// `index` is an i32, or an i1 of which true is the first branch.
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
