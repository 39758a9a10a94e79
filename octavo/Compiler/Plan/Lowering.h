// Lowers a function of static shapes to steps: which run, in which order, on which memory.
#pragma once

#include "octavo/Program/Steps/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace octavo::compiler {

/// Evaluates one operation on its operands, as the interpreter does.
using Evaluate = llvm::Expected<std::vector<program::Value>> (*)(
    mlir::Operation* op, std::vector<program::Value> operands, const program::RunContext& host);

/// A compiled program and the LLVM IR of its kernels, each text once.
struct Lowered {
  program::Program program;
  std::vector<std::string> kernels; ///< texts, in the order of program.functions
};

/// Whether the program runs guarded, for tests (Guards.h).
enum class Guarding : bool { None, Slots };

/// Lowers a function of one block. `evaluate` runs the operations that have no code. Fails, naming
/// the operation, for example for:
/// - functions that call themselves
/// - functions of several blocks
/// - operations without code whose regions capture values
llvm::Expected<Lowered> lower(mlir::func::FuncOp function, Evaluate evaluate,
                              Guarding guarding = Guarding::None);

} // namespace octavo::compiler
