// Collects the functions of a program that cannot be read, then reports all of them or removes
// them.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"

#include <string>
#include <vector>

namespace octavo {

/// A function that was removed, and why.
struct UnreadFunction {
  std::string name;
  /// The first error with its location, or which removed function this one refers to.
  std::string why;
};

/// Runs work on each function of a program and collects those that fail. `settle` or `verify` then
/// applies the policy.
class UnreadFunctions {
public:
  /// What to do with functions that cannot be read: report them as an error, or remove them.
  enum class Policy : bool { Refuse, LeaveOut };
  explicit UnreadFunctions(Policy policy) : policy(policy) {}

  bool refuses() const { return policy == Policy::Refuse; }

  /// Calls `work` on each function for which no earlier work has failed. A failing `work` must
  /// leave the function in the program. Its errors are kept for `settle`. `isReported`: `settle`
  /// does not report the errors again if the policy is Refuse.
  void onEach(mlir::ModuleOp program,
              llvm::function_ref<mlir::LogicalResult(mlir::Operation* function)> work,
              bool isReported = false);

  /// Succeeds if no work has failed. LeaveOut: removes the functions that failed and every function
  /// that refers to them; fails if no function is left. Refuse: reports all of them and fails.
  mlir::LogicalResult settle(mlir::ModuleOp program);

  /// Verifies a program that may have unregistered operations, and treats invalid functions as
  /// `settle` does. An error of the module as a whole is reported under either policy.
  mlir::LogicalResult verify(mlir::ModuleOp program);

  /// The functions removed so far.
  const std::vector<UnreadFunction>& leftOut() const { return removed; }
  /// The largest number of functions that the program had at any onEach.
  std::size_t total() const { return functions; }

private:
  struct Found {
    mlir::Operation* function;
    std::vector<mlir::Diagnostic> errors;
    bool isReported;
  };

  void leaveOut(mlir::Operation* function, std::string why);
  mlir::LogicalResult leaveOutAll(mlir::ModuleOp program);
  mlir::LogicalResult refuse(mlir::ModuleOp program);

  Policy policy;
  std::vector<Found> found;
  std::vector<std::string> reported; ///< texts of errors that `verify` has emitted, so that
                                     ///< `refuse` does not repeat them
  std::vector<UnreadFunction> removed;
  std::size_t functions = 0;
};

} // namespace octavo
