// One evaluation of a program: what evaluators need of their surroundings.
#pragma once

#include "octavo/Interpreter/EvaluationPlan.h"
#include "octavo/Interpreter/Evaluator.h"
#include "octavo/Interpreter/Grid.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace octavo::interpreter {

class Evaluation {
public:
  /// What process number `process` of `grid` evaluates.
  Evaluation(mlir::ModuleOp module, const RunContext& host, Grid& grid, std::int64_t process);

  const RunContext& host() const { return surroundings; }

  Grid& grid() { return processGrid; }
  std::int64_t process() const { return processNumber; }

  /// Evaluates a function by symbol name for `caller`, which errors name.
  llvm::Expected<Results> call(mlir::Operation* caller, llvm::StringRef function,
                               std::vector<Value> arguments);

  /// Evaluates a region of the operation that is being evaluated. The results are the operands of
  /// the region's terminator. Values defined above the region are visible in it. Arguments that are
  /// moved in are the region's to write to.
  llvm::Expected<Results> region(mlir::Region& region, std::vector<Value> arguments);

  /// Evaluates the body of a manual computation, which stands in a function, for this process.
  llvm::Expected<Results> manualBody(mlir::Operation* op, llvm::StringRef function,
                                     std::vector<Value> arguments);

  /// The manual computations that are being evaluated, the outermost first: its devices are the
  /// processes of the grid.
  llvm::ArrayRef<mlir::Operation*> manualComputations() const { return computations; }

  /// Adds the outcome of a check; without a report, a failure is an error.
  void hold();
  llvm::Error fail(CheckFailure failure);

  /// A number that no other call of this evaluation is given.
  std::uint64_t nextRandomStream() { return randomStreams++; }

  mlir::ModuleOp program() const { return module; }

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
  std::optional<mlir::SymbolTable> symbols; ///< from the first call on: folding makes none
  const RunContext& surroundings;
  Grid& processGrid;
  std::int64_t processNumber;
  EvaluationPlans plans;
  llvm::SmallVector<mlir::Operation*, 1> computations;
  llvm::StringRef currentFunction;
  Frame* currentFrame = nullptr;
  int depth = 0;
  std::uint64_t randomStreams = 0;
};

/// What one process of a grid is to evaluate.
struct ProcessWork {
  llvm::StringRef function;
  std::vector<Value> arguments;
  mlir::Operation* manual = nullptr; ///< a manual computation in it, whose body is all
};

/// More processes than that are an error in the program, not threads.
inline constexpr std::int64_t kMaxProcesses = 1024;

/// Evaluates one function in each process of a grid, each in a thread, and gives the results of one
/// after the other. The error is the first of all.
llvm::Expected<std::vector<Value>> evaluateOnGrid(Grid& grid, mlir::ModuleOp module,
                                                  std::vector<ProcessWork> works,
                                                  const RunContext& host);

/// The name under which a grid holds what infeeds take: of all processes, and of one.
std::string infeedName();
std::string infeedName(std::int64_t process);

} // namespace octavo::interpreter
