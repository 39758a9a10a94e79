// The reference interpreter: walks the IR of a program and computes each operation by the scalar
// rules of Numerics. docs/semantics.md, section Interpreter, states what every operation means
// here.
#pragma once

#include "octavo/Reference/Value.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::reference {

/// One check.expect_* that did not hold, at the first element where it did not.
struct CheckFailure {
  std::string function;
  std::string operation;           ///< name: check.expect_eq, ...
  std::string location;            ///< file:line:column where the program has one
  std::vector<std::int64_t> index; ///< of the first element that differs; empty for a scalar
  std::string expected;
  std::string found;
  std::int64_t count = 1; ///< number of elements that differ

  /// One line of text that says all of it.
  std::string message() const;
};

/// What the check.expect_* operations met while a function was evaluated.
struct CheckReport {
  std::int64_t held = 0;
  std::vector<CheckFailure> failures;
};

/// Evaluates the function named `function` on `arguments`, one value an argument of its type, and
/// gives its results. Fails, naming the operation and its location, on a function or an operation
/// that is not there, on arguments that do not fit the function's type, and on operations whose
/// result is an error by their own rules (a quantization that refuses NaN). A check that does not
/// hold is added to `report`, and evaluation goes on; without a report it is an error. The module
/// must be verified.
llvm::Expected<std::vector<Value>> evaluate(mlir::ModuleOp module, llvm::StringRef function,
                                            std::vector<Value> arguments,
                                            CheckReport* report = nullptr);

/// Names of all operations that have an evaluator, sorted.
std::vector<std::string> evaluatedOperations();

} // namespace octavo::reference
