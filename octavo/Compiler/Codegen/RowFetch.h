// Prefetches the memory of a row.
#pragma once

#include "llvm/IR/PassManager.h"

namespace octavo::compiler {

/// A kernel with several loops over each row uses memory in its short loops. In a loop that
/// computes functions of values that are in cache by then, memory is idle. So this loop prefetches
/// what comes next: the next row of what earlier loops read, and this row of what later loops
/// write. Runs after vectorization, because loops with prefetches are not vectorized.
class RowFetch : public llvm::PassInfoMixin<RowFetch> {
public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

} // namespace octavo::compiler
