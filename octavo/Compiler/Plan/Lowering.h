// A function of static shapes as steps: which run, on which memory.
#pragma once

#include "octavo/Program/Steps/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace octavo::compiler {

/// Evaluates one operation on its operands, as the interpreter does.
using Evaluate = llvm::Expected<std::vector<program::Value>> (*)(
    mlir::Operation* op, std::vector<program::Value> operands, const program::RunContext& host);

/// A program, and the texts of its kernels, each once.
struct Lowered {
  program::Program program;
  std::vector<std::string> kernels; ///< of program.functions
};

enum class Guarding : bool { None, Slots };

/// Lowers a function of one block. What has no code is evaluated by `evaluate`. The error names
/// what cannot be lowered: functions that call themselves, several blocks, regions that use values
/// from around them.
llvm::Expected<Lowered> lower(mlir::func::FuncOp function, Evaluate evaluate,
                              Guarding guarding = Guarding::None);

} // namespace octavo::compiler
