// One evaluation of a program: what evaluators need of their surroundings.
#pragma once

#include "octavo/Reference/EvaluationPlan.h"
#include "octavo/Reference/Evaluator.h"
#include "octavo/Reference/Grid.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace octavo::reference {

class Evaluation {
public:
  /// What process number `process` of `grid` evaluates.
  Evaluation(mlir::ModuleOp module, CheckReport* report, Grid& grid, std::int64_t process);

  Grid& grid() { return processGrid; }
  std::int64_t process() const { return processNumber; }

  /// Evaluates a function by symbol name for `caller`, which errors name.
  llvm::Expected<Results> call(mlir::Operation* caller, llvm::StringRef function,
                               std::vector<Value> arguments);

  /// Evaluates a region of the operation that is being evaluated. The results are the operands of
  /// the region's terminator. Values defined above the region are visible in it. Arguments that are
  /// moved in are the region's to write to.
  llvm::Expected<Results> region(mlir::Region& region, std::vector<Value> arguments);

  /// Adds the outcome of a check; without a report, a failure is an error.
  void hold();
  llvm::Error fail(CheckFailure failure);

  /// A number that no other call of this evaluation is given.
  std::uint64_t nextRandomStream() { return randomStreams++; }

  /// Name of the function that is being evaluated.
  llvm::StringRef function() const { return currentFunction; }

private:
  /// The values of one block while it is evaluated, and the block around it.
  struct Frame {
    Frame* parent;
    std::vector<Value> slots;
  };

  llvm::Expected<Results> block(mlir::Block& block, std::vector<Value> arguments, Frame* parent);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  CheckReport* report;
  Grid& processGrid;
  std::int64_t processNumber;
  EvaluationPlans plans;
  llvm::StringRef currentFunction;
  Frame* currentFrame = nullptr;
  int depth = 0;
  std::uint64_t randomStreams = 0;
};

} // namespace octavo::reference
