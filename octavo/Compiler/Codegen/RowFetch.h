// Memory of a row, asked for before it is needed.
#pragma once

#include "llvm/IR/PassManager.h"

namespace octavo::compiler {

/// A kernel of several loops over each row reads and writes memory in the short ones, and in the
/// one that computes functions of what the caches have by then, memory has nothing to do. So that
/// loop asks for what is to come: of what loops before it read, the next row, and of what loops
/// after it write, this row. Run on loops of vectors, which cannot be made of loops that do it.
class RowFetch : public llvm::PassInfoMixin<RowFetch> {
public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

} // namespace octavo::compiler
