// The reference interpreter: walks the IR of a program and computes each operation by the scalar
// rules of Numerics. docs/semantics.md, section Interpreter, states what every operation means
// here.
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

/// Evaluates the function named `function` on `arguments`, one value an argument of its type, and
/// gives its results; on a grid, those of one process after the other. Fails, naming the operation
/// and its location, on a function or an operation that is not there, on arguments that do not fit
/// the function's type, on operations whose result is an error by their own rules (a quantization
/// that refuses NaN), and where the host interrupts. The module must be verified.
llvm::Expected<std::vector<Value>> evaluate(mlir::ModuleOp module, llvm::StringRef function,
                                            std::vector<Value> arguments,
                                            const RunContext& host = {});

/// Evaluates one operation of a verified module on its operands. Regions of it may use nothing that
/// is defined around them. Fails as evaluate does.
llvm::Expected<std::vector<Value>>
evaluateOperation(mlir::Operation* op, std::vector<Value> operands, const RunContext& host);

/// The interpreter as an executable of a function of a verified module, which must outlive the
/// executable. Fails if the program is written for more processes than are run.
llvm::Expected<std::unique_ptr<program::Executable>> prepare(mlir::ModuleOp program,
                                                             llvm::StringRef function);

/// Names of all operations that have an evaluator, sorted.
std::vector<std::string> evaluatedOperations();

} // namespace octavo::interpreter
