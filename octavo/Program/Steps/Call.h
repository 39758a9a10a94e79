// Functions that a program calls. A function's steps exist once, however many calls there are.
#pragma once

#include "octavo/Program/Steps/Place.h"

#include <utility>
#include <vector>

namespace octavo::program {

/// The steps of a called function, listed before all of its calls. Running this step does nothing:
/// CallStep runs the body. No other step uses the function's slots.
class FunctionStep : public Step {
public:
  explicit FunctionStep(OperationTextPtr op) : Step(std::move(op)) {}
  FunctionStep(OperationTextPtr op, std::vector<Place> arguments, Sequence body,
               std::vector<Place> results)
      : Step(std::move(op)), arguments(std::move(arguments)), body(std::move(body)),
        results(std::move(results)) {}
  Outcome run(Frame& /*frame*/) const override { return {}; }
  StepFacts facts() const override { return {.kind = StepFacts::Kind::Function, .operations = 0}; }
  StepType type() const override { return StepType::Function; }
  void fields(ProgramFields& fields) override;
  std::vector<const Sequence*> nested() const override { return {&body}; }

private:
  friend class CallStep;
  std::vector<Place> arguments;
  Sequence body;
  std::vector<Place> results;
};

/// func.call: copies the operands to the function's arguments, runs its body, copies its results.
class CallStep : public Step {
public:
  explicit CallStep(OperationTextPtr op) : Step(std::move(op)) {}
  CallStep(OperationTextPtr op, const FunctionStep& callee, std::vector<Place> operands,
           std::vector<Place> results)
      : Step(std::move(op)), callee(&callee), operands(std::move(operands)),
        results(std::move(results)) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::Call; }
  void fields(ProgramFields& fields) override;

private:
  const FunctionStep* callee = nullptr;
  std::vector<Place> operands, results;
};

} // namespace octavo::program
