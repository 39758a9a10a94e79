// Compiled programs as a backend: the only place that orders passes.
#pragma once

#include "octavo/Compiler/Plan/Lowering.h"
#include "octavo/Program/Steps/BatchExtent.h"
#include "octavo/Program/Values/Executable.h"

namespace octavo::compiler {

/// Makes an executable of a function of a verified module, which must outlive the executable. The
/// error names an operation that cannot be run, and where it stands.
using Prepare = llvm::Expected<std::unique_ptr<program::Executable>>(mlir::ModuleOp program,
                                                                     llvm::StringRef function);

/// Compiles a function of a verified module. Operations without code are evaluated by `evaluate`;
/// programs that are no sequence of steps (a grid of processes, unknown extents, recursion) are
/// given to `fallback` as a whole.
llvm::Expected<std::unique_ptr<program::Executable>>
compileProgram(mlir::ModuleOp program, llvm::StringRef function, Evaluate evaluate,
               Prepare* fallback, Guarding guarding = Guarding::None);

/// A program whose open extents were made known as those of so many items.
struct ProgramOfItems {
  mlir::ModuleOp program;
  std::int64_t items;
};

/// An executable for any number of items in this range.
struct CompiledForItems {
  std::unique_ptr<program::Executable> executable;
  program::ItemRange items;
};

/// Compiles a function for any number of items, at least `fewest` (Compiler/Plan/OpenBatch.h).
llvm::Expected<CompiledForItems> compileForItems(llvm::ArrayRef<ProgramOfItems> programs,
                                                 std::int64_t fewest, llvm::StringRef function,
                                                 Evaluate evaluate);

} // namespace octavo::compiler
