// One evaluation of a program by one process: what evaluators can call and query.
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

/// The state of one evaluation. Each process of a grid has its own, used by its thread only.
class Evaluation {
public:
  /// The evaluation of `module` by process number `process` of `grid`. All arguments but `process`
  /// must outlive it.
  Evaluation(mlir::ModuleOp module, const RunContext& host, Grid& grid, std::int64_t process);

  const RunContext& host() const { return surroundings; }

  Grid& grid() { return processGrid; }
  std::int64_t process() const { return processNumber; }

  /// Evaluates the function named `function`. Errors are reported at `caller`. Fails if there is no
  /// such function or the arguments do not fit its type.
  llvm::Expected<Results> call(mlir::Operation* caller, llvm::StringRef function,
                               std::vector<Value> arguments);

  /// Evaluates a region of the operation that is being evaluated and returns the operands of the
  /// region's terminator. Values defined above the region are visible in it. The region may
  /// overwrite arguments that are moved in.
  llvm::Expected<Results> region(mlir::Region& region, std::vector<Value> arguments);

  /// Evaluates the body of a manual computation for this process. `function` names the function
  /// that contains the computation.
  llvm::Expected<Results> manualBody(mlir::Operation* op, llvm::StringRef function,
                                     std::vector<Value> arguments);

  /// The manual computations that are being evaluated, outermost first. The processes of the grid
  /// are the devices of the outermost one.
  llvm::ArrayRef<mlir::Operation*> manualComputations() const { return computations; }

  /// Records a check that passed or failed. Without a report, `fail` returns the failure as an
  /// error.
  void hold();
  llvm::Error fail(CheckFailure failure);

  /// A number that this evaluation has not returned before.
  std::uint64_t nextRandomStream() { return randomStreams++; }

  /// The module that is being evaluated.
  mlir::ModuleOp program() const { return module; }

  /// The name of the function that is being evaluated.
  llvm::StringRef function() const { return currentFunction; }

private:
  /// The values of one block while it is evaluated, and the frame of the enclosing block.
  struct Frame {
    Frame* parent;
    std::vector<Value> slots;
  };

  llvm::Expected<Results> block(mlir::Block& block, std::vector<Value> arguments, Frame* parent);

  mlir::ModuleOp module;
  std::optional<mlir::SymbolTable> symbols; ///< made by the first call: folding needs none
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

/// The work of one process of a grid.
struct ProcessWork {
  llvm::StringRef function;
  std::vector<Value> arguments;
  /// If set, only the body of this manual computation in `function` is evaluated.
  mlir::Operation* manual = nullptr;
};

/// The most processes of a grid, each of which is a thread. A program with more is an error.
inline constexpr std::int64_t kMaxProcesses = 1024;

/// Evaluates works[i] in process i of the grid, each in its own thread. Returns the results of all
/// processes, one process after the other. If processes fail, the error is the first that occurred.
llvm::Expected<std::vector<Value>> evaluateOnGrid(Grid& grid, mlir::ModuleOp module,
                                                  std::vector<ProcessWork> works,
                                                  const RunContext& host);

/// The names under which a grid keeps infeed data: for any process, and for one process.
std::string infeedName();
std::string infeedName(std::int64_t process);

} // namespace octavo::interpreter
