// Compiled programs as a backend: the only place that orders passes.
#pragma once

#include "octavo/Conversion/Steps/Lowering.h"
#include "octavo/Execution/Executable.h"
#include "octavo/Steps/ItemNumber.h"

namespace octavo::pipelines {

/// Compiles a function of a verified module. Operations without code are evaluated by `evaluate`;
/// programs that are no sequence of steps (a grid of processes, unknown extents, recursion) are
/// given to `fallback` as a whole.
llvm::Expected<std::unique_ptr<execution::Executable>>
compileProgram(mlir::ModuleOp program, llvm::StringRef function, conversion::Evaluate evaluate,
               const execution::Backend& fallback,
               conversion::Guarding guarding = conversion::Guarding::None);

/// A program whose open extents were made known as those of so many items.
struct ProgramOfItems {
  mlir::ModuleOp program;
  std::int64_t items;
};

/// An executable for any number of items in this range.
struct CompiledForItems {
  std::unique_ptr<execution::Executable> executable;
  steps::ItemRange items;
};

/// Compiles a function for any number of items, at least `fewest` (Conversion/Steps/Items.h).
llvm::Expected<CompiledForItems> compileForItems(llvm::ArrayRef<ProgramOfItems> programs,
                                                 std::int64_t fewest, llvm::StringRef function,
                                                 conversion::Evaluate evaluate);

} // namespace octavo::pipelines
