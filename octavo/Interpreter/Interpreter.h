// The interpreter: walks a program's IR and computes each operation by the scalar rules of
// Numerics. The meaning of each operation is in docs/semantics.md, section Interpreter.
#pragma once

#include "octavo/Program/Values/Executable.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace octavo::interpreter {

using program::CheckFailure;
using program::CheckReport;
using program::RunContext;
using program::Value;

/// Evaluates the function named `function` on `arguments`, one value for each of its parameters,
/// and returns its results. On a grid, both lists are those of process 0, then of process 1, and so
/// on. The module must be verified. Fails, with the operation and its location, if
/// - the function or an evaluator does not exist;
/// - arguments do not fit the function's type;
/// - an operation's own rules make its result an error (a quantization that refuses NaN);
/// - the host interrupts.
llvm::Expected<std::vector<Value>> evaluate(mlir::ModuleOp module, llvm::StringRef function,
                                            std::vector<Value> arguments,
                                            const RunContext& host = {});

/// Evaluates one operation of a verified module on `operands`. The operation's regions must not use
/// values defined outside them. Fails as evaluate does.
llvm::Expected<std::vector<Value>>
evaluateOperation(mlir::Operation* op, std::vector<Value> operands, const RunContext& host);

/// Wraps the interpretation of a function in an Executable. `program` must be verified and outlive
/// the executable. Fails if the program needs more than kMaxProcesses processes.
llvm::Expected<std::unique_ptr<program::Executable>> prepare(mlir::ModuleOp program,
                                                             llvm::StringRef function);

/// The names of all operations that have an evaluator, sorted.
std::vector<std::string> evaluatedOperations();

} // namespace octavo::interpreter
