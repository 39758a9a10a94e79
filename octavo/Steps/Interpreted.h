// A step for which there is no code: the interpreter evaluates the operation.
#pragma once

#include "octavo/Steps/Place.h"

#include "mlir/IR/Operation.h"

namespace octavo::steps {

/// Evaluates one operation on its operands (the interpreter's, which this layer does not know).
using Evaluate = llvm::Expected<std::vector<Value>> (*)(mlir::Operation* op,
                                                        std::vector<Value> operands,
                                                        const Host& host);

class InterpretedStep : public Step {
public:
  /// `text` is that of `evaluated`; `reason` says why there is no code.
  InterpretedStep(OperationTextPtr text, mlir::Operation* evaluated, Evaluate evaluate,
                  std::vector<Place> operands, std::vector<Place> results, std::string reason)
      : Step(std::move(text)), evaluated(evaluated), evaluate(evaluate),
        operands(std::move(operands)), results(std::move(results)), reason(std::move(reason)) {}
  llvm::Error run(Frame& frame) const override;
  StepFacts facts() const override;

private:
  mlir::Operation* evaluated;
  Evaluate evaluate;
  std::vector<Place> operands, results;
  std::string reason;
};

} // namespace octavo::steps
