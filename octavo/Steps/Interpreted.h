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
  InterpretedStep(mlir::Operation* op, Evaluate evaluate, std::vector<Place> operands,
                  std::vector<Place> results)
      : Step(op), evaluate(evaluate), operands(std::move(operands)), results(std::move(results)) {}
  llvm::Error run(Frame& frame) const override;

private:
  Evaluate evaluate;
  std::vector<Place> operands, results;
};

} // namespace octavo::steps
