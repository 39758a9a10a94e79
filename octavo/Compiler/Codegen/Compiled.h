// Compiles programs to executables: simplifies, lowers and generates code, or reads the cache.
#pragma once

#include "octavo/Compiler/Plan/Lowering.h"
#include "octavo/Program/Steps/BatchExtent.h"
#include "octavo/Program/Values/Executable.h"

namespace octavo::compiler {

/// Makes an executable of a function of a verified module, which must outlive the executable. The
/// error names an operation that cannot be run, and its location.
using Prepare = llvm::Expected<std::unique_ptr<program::Executable>>(mlir::ModuleOp program,
                                                                     llvm::StringRef function);

/// Compiles a function of a verified module. `evaluate` evaluates operations without code. Programs
/// that cannot be lowered (several processes, unknown extents, recursion, ...) are run by
/// `fallback` as a whole.
llvm::Expected<std::unique_ptr<program::Executable>>
compileProgram(mlir::ModuleOp program, llvm::StringRef function, Evaluate evaluate,
               Prepare* fallback, Guarding guarding = Guarding::None);

/// A program whose open extents are closed for one batch size.
struct ProgramOfItems {
  mlir::ModuleOp program;
  std::int64_t items; ///< the batch size
};

/// An executable, and the batch sizes that it accepts.
struct CompiledForItems {
  std::unique_ptr<program::Executable> executable;
  program::ItemRange items;
};

/// Compiles a function for every batch size from `fewest` on, or from a somewhat larger bound
/// (Compiler/Plan/OpenBatch.h). `programs` are the same program for different batch sizes.
llvm::Expected<CompiledForItems> compileForItems(llvm::ArrayRef<ProgramOfItems> programs,
                                                 std::int64_t fewest, llvm::StringRef function,
                                                 Evaluate evaluate);

} // namespace octavo::compiler
