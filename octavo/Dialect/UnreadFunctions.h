// The functions of a program that cannot be read: named, all at once, or left out on request.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"

#include <string>
#include <vector>

namespace octavo {

struct UnreadFunction {
  std::string name;
  std::string why; ///< the first error, with its place
};

class UnreadFunctions {
public:
  enum class Policy : bool { Refuse, LeaveOut };
  explicit UnreadFunctions(Policy policy) : policy(policy) {}

  bool refuses() const { return policy == Policy::Refuse; }

  /// Does `work` on each function of a program for which none has failed so far; where it fails the
  /// function must still be there. Errors are kept until `settle`, or dropped if `isReported`.
  void onEach(mlir::ModuleOp program,
              llvm::function_ref<mlir::LogicalResult(mlir::Operation* function)> work,
              bool isReported = false);

  /// After work failed on none: success. Else, under LeaveOut, removes those functions and whatever
  /// refers to them, and fails if nothing is left; under Refuse, reports all of them and fails.
  mlir::LogicalResult settle(mlir::ModuleOp program);

  /// Verifies a program that may have operations which are not registered; likewise. What is wrong
  /// with the program as a whole is an error in any case.
  mlir::LogicalResult verify(mlir::ModuleOp program);

  const std::vector<UnreadFunction>& leftOut() const { return removed; }
  /// Functions that the program had.
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
  std::vector<std::string> reported; ///< texts of errors
  std::vector<UnreadFunction> removed;
  std::size_t functions = 0;
};

} // namespace octavo
