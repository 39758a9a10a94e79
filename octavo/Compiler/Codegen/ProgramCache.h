// Lowered programs on disk, so that a program that was compiled once on a machine is neither
// simplified nor lowered again there.
#pragma once

#include "octavo/Compiler/Codegen/CompilationCache.h"
#include "octavo/Compiler/Plan/Lowering.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>

namespace octavo::compiler {

/// Where one program is kept. Its key is all that lowering depends on: the program with its
/// locations, its function, the machine, how many threads there are, and this build of octavo.
class KeptProgram {
public:
  /// Of a function that is lowered from these modules; of one for any number of items, from the
  /// fewest on. Nothing is kept of one with large constants,
  /// which would be written a second time, and by a build that cannot be told from others.
  KeptProgram(llvm::ArrayRef<mlir::ModuleOp> sources, llvm::StringRef function,
              std::int64_t fewest = 0);

  /// What was kept; nothing if that is no program.
  std::optional<Lowered> find() const;
  /// Keeps a program that has a form in a file (Program/Steps/File/ProgramFile.h), none of whose
  /// constants are weights of products. Weights that are, it packs.
  void keep(Lowered& lowered) const;

private:
  CompilationCache cache = CompilationCache::ofUser();
  std::string key; ///< empty: nothing is kept
};

} // namespace octavo::compiler
