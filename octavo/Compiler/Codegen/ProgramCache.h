// The disk cache of lowered programs: a program that was compiled once on a machine is neither
// simplified nor lowered again there.
#pragma once

#include "octavo/Compiler/Codegen/CompilationCache.h"
#include "octavo/Compiler/Plan/Lowering.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>

namespace octavo::compiler {

/// The cache entry of one program. Its key covers all that lowering depends on: the program with
/// its locations, the function, the machine, the number of threads, and this build of octavo.
class KeptProgram {
public:
  /// The entry of a function that is lowered from these modules: one, or the same program for
  /// several batch sizes, from `fewest` on. There is no entry for programs with large constants,
  /// which would be written a second time, nor in a build without a build ID.
  KeptProgram(llvm::ArrayRef<mlir::ModuleOp> sources, llvm::StringRef function,
              std::int64_t fewest = 0);

  /// The program of the entry. nullopt: there is none, or it cannot be read.
  std::optional<Lowered> find() const;
  /// Writes the entry, if the program can be written to a file (Program/Steps/File/ProgramFile.h)
  /// and none of its constants is a weight of a product. Packs constants that are weights.
  void keep(Lowered& lowered) const;

private:
  CompilationCache cache = CompilationCache::ofUser();
  std::string key; ///< empty: there is no entry
};

} // namespace octavo::compiler
