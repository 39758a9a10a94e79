// A step without compiled code: the interpreter evaluates its operation.
#pragma once

#include "octavo/Program/Steps/Place.h"

#include <functional>

namespace octavo::program {

/// Evaluates one operation. The interpreter provides it; this folder does not depend on the
/// interpreter. The error is the operation's.
using Evaluation = std::function<tl::expected<std::vector<Value>, std::string>(
    std::vector<Value> operands, const RunContext& host)>;

/// Reads the operands from their places, evaluates the operation, and writes the results.
class InterpretedStep : public Step {
public:
  /// `reason` says why there is no code for the operation.
  InterpretedStep(OperationTextPtr op, Evaluation evaluate, std::vector<Place> operands,
                  std::vector<Place> results, std::string reason)
      : Step(std::move(op)), evaluate(std::move(evaluate)), operands(std::move(operands)),
        results(std::move(results)), reason(std::move(reason)) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::Interpreted; }
  void fields(ProgramFields& fields) override;

private:
  Evaluation evaluate;
  std::vector<Place> operands, results;
  std::string reason;
};

} // namespace octavo::program
